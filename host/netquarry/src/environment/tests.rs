//! Finding and making environments, with the interpreters of `interpreters/`: shell scripts that behave as Python would
//! in one respect each.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use super::{Environment, EnvironmentError, Installation, Origin, Plan, Progress, Request, plan, prepare};

fn interpreter(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/environment/interpreters").join(name)
}

/// A folder to stand on `PATH`, in which `python3` is the named interpreter.
fn folder_with(name: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(interpreter(name), folder.path().join("python3")).unwrap();
    // The scripts look for each other beside the name that they are called by.
    std::os::unix::fs::symlink(interpreter("python.sh"), folder.path().join("python.sh")).unwrap();
    folder
}

fn ready(plan: Plan) -> Environment {
    match plan {
        Plan::Ready(environment) => *environment,
        Plan::Install(installation) => panic!("{installation:?}"),
    }
}

#[test]
fn a_named_interpreter_must_do() {
    let error = |name: &str| {
        let cache = tempfile::tempdir().unwrap();
        let request = Request { python: Some(interpreter(name)), cache: cache.path().to_owned(), ..Request::default() };
        plan(&request).unwrap_err()
    };
    assert!(matches!(error("nowhere"), EnvironmentError::NotFound { .. }));
    assert!(matches!(error("too_old"), EnvironmentError::TooOld { version, .. } if version == "3.8.10"));
    assert!(matches!(error("works"), EnvironmentError::NoTorch { version, .. } if version == "3.11.7"));
    assert!(matches!(error("pypy"), EnvironmentError::NotPython { answer, .. } if answer.contains("pypy")));
    assert!(matches!(error("not_python"), EnvironmentError::NotPython { answer, .. } if answer.contains("usage")));
    assert!(!error("not_python").hint().is_empty());
}

#[test]
fn the_first_of_the_named_ones_is_taken() {
    let folder = folder_with("with_torch");
    let request =
        Request { python: Some("python3".into()), path: vec![folder.path().to_owned()], ..Request::default() };
    let environment = ready(plan(&request).unwrap());
    assert_eq!((environment.origin, environment.torch.as_str()), (Origin::Named, "2.15.0"));
    assert!(environment.provides("os") && !environment.provides("timm"));
    let request = Request { variable: Some(interpreter("with_torch")), ..Request::default() };
    assert_eq!(ready(plan(&request).unwrap()).origin, Origin::Variable);
}

#[test]
fn a_relative_path_is_good_in_any_folder() {
    // Tests run in the folder of their crate.
    let request = Request { python: Some("src/environment/interpreters/with_torch".into()), ..Request::default() };
    assert_eq!(ready(plan(&request).unwrap()).python, interpreter("with_torch"));
}

#[test]
fn interpreters_on_the_path_are_passed_over_until_one_will_do() {
    let [old, odd, plain, good] = ["too_old", "not_python", "works", "with_torch"].map(folder_with);
    let on_path = |folders: &[&TempDir]| {
        let cache = tempfile::tempdir().unwrap();
        let path = folders.iter().map(|folder| folder.path().to_owned()).collect();
        plan(&Request { path, cache: cache.path().to_owned(), ..Request::default() })
    };
    assert_eq!(ready(on_path(&[&old, &odd, &plain, &good]).unwrap()).origin, Origin::Path);
    let Plan::Install(installation) = on_path(&[&old, &odd, &plain]).unwrap() else { panic!("none has torch") };
    assert_eq!(installation.python, plain.path().join("python3"));
    assert!(matches!(on_path(&[&odd, &old]).unwrap_err(), EnvironmentError::TooOld { .. }));
    assert!(matches!(on_path(&[&odd]).unwrap_err(), EnvironmentError::NoPython));
}

#[test]
fn an_environment_is_made_once_and_found_again() {
    let cache = tempfile::tempdir().unwrap();
    let folder = folder_with("works");
    let request =
        Request { path: vec![folder.path().to_owned()], cache: cache.path().to_owned(), ..Request::default() };
    let steps = Mutex::new(Vec::new());
    let record = |step| steps.lock().unwrap().push(step);
    let made = prepare(&request, &record).unwrap();
    let file = "torch-2.15.0-cp311-cp311-linux_x86_64.whl".to_owned();
    let expected = [
        Progress::CreatingFolder,
        Progress::Resolving("torch==2.15.0".to_owned()),
        Progress::Downloading { file, size: "539.1 MB".to_owned() },
        Progress::Unpacking(2),
        Progress::Checking,
    ];
    assert_eq!(steps.lock().unwrap().as_slice(), expected);
    assert_eq!(ready(plan(&request).unwrap()), made);
    assert_eq!(made.digest(), Environment { python: "/elsewhere".into(), ..made.clone() }.digest());
    assert_ne!(made.digest(), Environment { version: "3.12.0".into(), ..made }.digest());
}

#[test]
fn a_half_made_environment_is_made_anew() {
    let cache = tempfile::tempdir().unwrap();
    let installation = Installation::new(interpreter("works"), cache.path());
    fs::create_dir_all(installation.folder.join("bin")).unwrap();
    fs::write(installation.folder.join("leftover"), "").unwrap();
    installation.run(&|_| {}).unwrap();
    assert!(!installation.folder.join("leftover").exists());
    // And one whose interpreter has gone since.
    fs::remove_file(installation.folder.join("bin/python")).unwrap();
    let folder = folder_with("works");
    let request = Request { path: vec![folder.path().to_owned()], cache: cache.path().into(), ..Request::default() };
    assert!(matches!(plan(&request).unwrap(), Plan::Install(_)));
    installation.run(&|_| {}).unwrap();
}

#[test]
fn what_goes_wrong_is_told_apart() {
    let error = |name: &str| {
        let cache = tempfile::tempdir().unwrap();
        Installation::new(interpreter(name), cache.path()).run(&|_| {}).unwrap_err()
    };
    assert!(matches!(error("no_ensurepip"), EnvironmentError::Venv { output, .. } if output.contains("ensurepip")));
    assert!(matches!(error("full_disk"), EnvironmentError::DiskFull { .. }));
    assert!(matches!(error("stopped"), EnvironmentError::Pip { output, .. } if output.contains("by signal 15")));
    assert!(matches!(error("offline"), EnvironmentError::NoNetwork { output } if output.contains("No matching")));
    assert!(matches!(error("broken"), EnvironmentError::TorchBroken { output, .. } if output.contains("libcudart")));
    let blocked = tempfile::NamedTempFile::new().unwrap();
    let under_a_file = Installation::new(interpreter("works"), &blocked.path().join("cache"));
    assert!(matches!(under_a_file.run(&|_| {}).unwrap_err(), EnvironmentError::Io { action: "create", .. }));
}

#[test]
fn an_installation_can_be_interrupted_and_started_again() {
    let cache = tempfile::tempdir().unwrap();
    let preparation = Installation::new(interpreter("slow"), cache.path()).start(|_| {});
    assert!(!preparation.is_finished());
    preparation.interrupt();
    assert!(matches!(preparation.wait().unwrap_err(), EnvironmentError::Interrupted));
    // Its child was asked to stop as well, and was faster.
    let preparation = Installation::new(interpreter("stopped"), cache.path()).start(|_| {});
    preparation.interrupt();
    assert!(matches!(preparation.wait().unwrap_err(), EnvironmentError::Interrupted));
    Installation::new(interpreter("works"), cache.path()).run(&|_| {}).unwrap();
}

#[test]
fn a_second_process_waits_and_takes_what_the_first_has_made() {
    let cache = tempfile::tempdir().unwrap();
    let installation = Installation::new(interpreter("works"), cache.path());
    fs::create_dir_all(cache.path()).unwrap();
    let lock = fs::File::create(installation.folder.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    let (told, waiting) = std::sync::mpsc::channel();
    let second = installation.clone().start(move |step| told.send(step).unwrap());
    assert_eq!(waiting.recv().unwrap(), Progress::Waiting);
    thread::sleep(Duration::from_millis(50));
    assert!(!second.is_finished());
    drop(lock);
    second.wait().unwrap();
    assert_eq!(waiting.recv().unwrap(), Progress::CreatingFolder);
    let third = Mutex::new(Vec::new());
    installation.run(&|step| third.lock().unwrap().push(step)).unwrap();
    // A process that another test starts just now has the lock, too, until it runs its own program.
    let steps = third.into_inner().unwrap();
    assert!(steps.iter().all(|step| *step == Progress::Waiting), "nothing is made again: {steps:?}");
}
