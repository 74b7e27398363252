//! Runs that end early.

use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use super::library::made;
use super::support::{Playground, Run, tree};

/// Starts a run and sends it `signal` while it validates.
fn interrupted(playground: &Playground, signal: i32) -> Run {
    let mut command = playground.mining(&["run", "--jobs", "1", "-vv"]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let store = playground.path("cache/index.sqlite");
    let deadline = Instant::now() + Duration::from_secs(120);
    while !store.exists() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(20));
    }
    // It has begun; where exactly it is struck must not matter.
    thread::sleep(Duration::from_millis(2500));
    // SAFETY: the process is a child that has not been waited for, so its number is still its own.
    unsafe { libc::kill(i32::try_from(child.id()).unwrap(), signal) };
    Run::from(child.wait_with_output().unwrap())
}

#[test]
fn a_killed_run_goes_on_where_it_stopped_and_leaves_the_same_library() {
    let playground = Playground::new();
    interrupted(&playground, libc::SIGKILL);
    playground.mine(&["run", "--quiet"]).succeeded();
    let (resumed, whole) = (tree(&playground.path("out")), tree(&made().path("out")));
    let names = |tree: &[(String, Vec<u8>)]| tree.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>();
    assert_eq!(names(&resumed), names(&whole));
    assert!(resumed == whole, "a file differs");
}

#[test]
fn an_interrupt_ends_in_good_order() {
    let playground = Playground::new();
    let run = interrupted(&playground, libc::SIGINT);
    if run.status == 0 {
        // A fast machine was done before.
        return;
    }
    assert_eq!(run.status, 130, "{}", run.stderr);
    assert!(run.stderr.contains("what was finished is kept"), "{}", run.stderr);
    playground.mine(&["run", "--quiet"]).succeeded();
}
