//! The class of a failure, told from the exception.

use netquarry_core::verdict::FailureClass;

use super::Job;
use super::protocol::Exception;
use crate::environment::Environment;

/// The class that an exception in a bundle belongs to.
pub(super) fn class(exception: &Exception, job: &Job, environment: &Environment) -> FailureClass {
    let own = own_class(exception, job, environment);
    // A message of upstream's own ("please install timm") hides what led to it.
    if own == FailureClass::RuntimeError
        && let Some(cause) = exception.causes.iter().find(|cause| cause.is_a("ImportError"))
    {
        return own_class(cause, job, environment);
    }
    own
}

/// Whether a failure of this class shows a fault of the bundle or of its environment whatever arguments were tried. A key
/// that no registry has and a file that is not there may be what was `guessed`.
pub(super) fn is_no_matter_of_arguments(class: FailureClass, guessed: bool) -> bool {
    match class {
        FailureClass::RegistryKey | FailureClass::DataRequired => !guessed,
        FailureClass::Syntax
        | FailureClass::MissingDistribution
        | FailureClass::UnresolvedName
        | FailureClass::UnresolvedImport
        | FailureClass::NativeExtension
        | FailureClass::ApiDrift
        | FailureClass::ImportCycle
        | FailureClass::ClassCreation
        | FailureClass::DeviceOnly
        | FailureClass::ProcessState
        | FailureClass::PolicyViolation
        | FailureClass::Harness => true,
        FailureClass::RuntimeError
        | FailureClass::ParityMismatch
        | FailureClass::CpuTime
        | FailureClass::WallTime
        | FailureClass::Memory
        | FailureClass::Crash
        | FailureClass::NoReport => false,
    }
}

fn own_class(exception: &Exception, job: &Job, environment: &Environment) -> FailureClass {
    let message = exception.message.as_str();
    match exception.class.as_str() {
        "ClassMissing" => return FailureClass::UnresolvedName,
        "NotAModuleClass" => return FailureClass::ClassCreation,
        _ => {}
    }
    if exception.is_a("ImportError") {
        return import_class(exception, job, environment);
    }
    if exception.is_a("SyntaxError") {
        return FailureClass::Syntax;
    }
    if exception.is_a("NameError") && !exception.is_a("UnboundLocalError") {
        // Bound further down in the bundle: two definitions need each other when they run.
        return if exception.bound_in_bundle { FailureClass::ImportCycle } else { FailureClass::UnresolvedName };
    }
    if exception.is_a("SystemExit") {
        return FailureClass::ProcessState;
    }
    if exception.is_a("MemoryError") || SIGNS_OF_MEMORY.iter().any(|sign| message.contains(sign)) {
        return FailureClass::Memory;
    }
    if exception.is_a("PermissionError") {
        return permission_class(exception);
    }
    by_message(exception, message)
}

const SIGNS_OF_MEMORY: [&str; 4] =
    ["can't allocate memory", "not enough memory", "Cannot allocate memory", "std::bad_alloc"];

fn import_class(exception: &Exception, job: &Job, environment: &Environment) -> FailureClass {
    let message = exception.message.as_str();
    let module = exception.name.as_deref().unwrap_or_default();
    let root = module.split('.').next().unwrap_or_default();
    if job.blocked_packages.iter().any(|package| package == root) || message.contains("relative import") {
        return FailureClass::UnresolvedImport;
    }
    if message.contains("partially initialized module") {
        return FailureClass::ImportCycle;
    }
    let binary = ["undefined symbol", "cannot open shared object file", "DLL load failed"];
    if binary.iter().any(|sign| message.contains(sign)) {
        return FailureClass::NativeExtension;
    }
    // `cannot import name 'x' from 'y'` names the module it came from, and the missing name in its text.
    let missing = quoted(message, "cannot import name '").unwrap_or(module);
    if is_native(missing) {
        return FailureClass::NativeExtension;
    }
    if environment.provides(root) || job.provides(root) {
        FailureClass::ApiDrift
    } else {
        FailureClass::MissingDistribution
    }
}

/// Names that compiled extensions bear by custom: `_C`, `_ext`, `deform_conv_cuda`, `selective_scan_cuda_core`.
fn is_native(module: &str) -> bool {
    module.split('.').any(|part| {
        matches!(part, "_C" | "_ext" | "ext" | "_cuda")
            || part.starts_with("_C_")
            || part.ends_with("_C")
            || part.ends_with("_ext")
            || part.split('_').any(|word| word == "cuda")
    })
}

fn permission_class(exception: &Exception) -> FailureClass {
    let socket_or_url = ["socket.py", "client.py", "request.py", "ssl.py"];
    let from = |names: &[&str]| {
        exception.frames.iter().any(|frame| names.iter().any(|name| frame.file.rsplit('/').next() == Some(name)))
    };
    // Whoever wants the network wants weights or data.
    if from(&socket_or_url) { FailureClass::DataRequired } else { FailureClass::PolicyViolation }
}

fn by_message(exception: &Exception, message: &str) -> FailureClass {
    let has = |signs: &[&str]| signs.iter().any(|sign| message.contains(sign));
    let raised_in = |file: &str| exception.frames.last().is_some_and(|frame| frame.file.ends_with(file));
    if exception.is_a("AttributeError") {
        return attribute_class(message);
    }
    if has(&["_OpNamespace", "does not exist in the dispatcher", "No such operator", "Could not run '"])
        || (message.starts_with("operator ") && message.ends_with(" does not exist"))
    {
        return FailureClass::NativeExtension;
    }
    if has(&["Error building extension", "Ninja is required", "CUDA_HOME environment variable"]) {
        return FailureClass::NativeExtension;
    }
    if has(&[
        "Torch not compiled with CUDA",
        "No CUDA GPUs",
        "Found no NVIDIA driver",
        "CUDA driver",
        "Cannot access accelerator device",
        "0 active drivers",
    ]) {
        return FailureClass::DeviceOnly;
    }
    if has(&["process group has not been initialized", "argument error"]) || is_missing_variable(exception) {
        return FailureClass::ProcessState;
    }
    if exception.is_a("FileNotFoundError") || has(&["urlopen error", "HTTP Error", "Max retries exceeded"]) {
        return FailureClass::DataRequired;
    }
    if has(&["metaclass conflict", "method resolution order", "duplicate base class", "__init_subclass__"]) {
        return FailureClass::ClassCreation;
    }
    let in_registry = exception.frames.last().is_some_and(|frame| frame.function.to_lowercase().contains("regist"));
    if exception.is_a("KeyError") && (in_registry || message.to_lowercase().contains("regist")) {
        return FailureClass::RegistryKey;
    }
    if raised_in("argparse.py") { FailureClass::ProcessState } else { FailureClass::RuntimeError }
}

/// `os.environ["RANK"]`
fn is_missing_variable(exception: &Exception) -> bool {
    exception.is_a("KeyError") && exception.frames.last().is_some_and(|frame| frame.function == "_Environ.__getitem__")
}

fn attribute_class(message: &str) -> FailureClass {
    if message.contains("_OpNamespace") {
        return FailureClass::NativeExtension;
    }
    // Set by the module that stands for a package whose operators alone are loaded.
    if message.contains("only its compiled operators are within reach") {
        return FailureClass::UnresolvedImport;
    }
    match quoted(message, "module '") {
        Some(_) => FailureClass::ApiDrift,
        None => FailureClass::RuntimeError,
    }
}

/// What stands between `opening` (which ends with a quote) and the next quote.
fn quoted<'a>(message: &'a str, opening: &str) -> Option<&'a str> {
    let (_, rest) = message.split_once(opening)?;
    rest.split('\'').next()
}
