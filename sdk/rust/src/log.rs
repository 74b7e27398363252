//! Messages to the person who runs the host.

pub use crate::bindings::discovery_rule::netquarry::plugin::log::Level;

/// Writes one message to the host's log; in native tests to standard error.
pub fn log(level: Level, message: &str) {
    #[cfg(target_family = "wasm")]
    crate::bindings::discovery_rule::netquarry::plugin::log::log(level, message);
    #[cfg(not(target_family = "wasm"))]
    {
        #![expect(clippy::print_stderr, reason = "natively there is no host, and tests capture what is printed")]
        eprintln!("{level:?}: {message}");
    }
}

pub fn debug(message: &str) {
    log(Level::Debug, message);
}

pub fn info(message: &str) {
    log(Level::Info, message);
}

pub fn warning(message: &str) {
    log(Level::Warning, message);
}

pub fn error(message: &str) {
    log(Level::Error, message);
}
