//! Stopping in good order: the first interrupt lets what runs end and keeps it, the second ends the program at once.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::problem::Problem;

static REQUESTED: AtomicBool = AtomicBool::new(false);

extern "C" fn on_signal(signal: libc::c_int) {
    REQUESTED.store(true, Ordering::Relaxed);
    // SAFETY: `signal` may be called in a signal handler.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

/// Takes interrupts (Ctrl-C) and requests to end from now on.
pub fn listen() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the handler does nothing but store a flag and call `signal`.
        unsafe { libc::signal(signal, on_signal as *const () as libc::sighandler_t) };
    }
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
