//! Stopping in good order: the first interrupt lets what runs end and keeps it, the second ends the program at once.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::console::Console;
use crate::problem::{INTERRUPTED, Problem};
use crate::temporary;

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Takes interrupts (Ctrl-C) and requests to end from now on.
///
/// # Errors
/// The system refuses.
#[expect(clippy::exit, reason = "the second interrupt waits for nothing")]
pub fn listen(console: &Console) -> Result<(), Problem> {
    let console = console.clone();
    let on_signal = move || {
        if REQUESTED.swap(true, Ordering::Relaxed) {
            temporary::remove_all();
            std::process::exit(i32::from(INTERRUPTED));
        }
        console.caution("stopping: what runs now is let end and kept; a second interrupt ends it at once");
    };
    ctrlc::set_handler(on_signal).map_err(|error| Problem::new("Could not listen to interrupts").because(error))
}

/// Whether the user asked to stop.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// Is set when the user asks to stop.
pub fn flag() -> &'static AtomicBool {
    &REQUESTED
}

/// # Errors
/// The user asked to stop.
pub fn check() -> Result<(), Problem> {
    if requested() { Err(Problem::interrupted()) } else { Ok(()) }
}
