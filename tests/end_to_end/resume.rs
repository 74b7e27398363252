//! Runs that end early.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::library::made;
use super::support::{Playground, Run, tree};

/// Starts a run and sends it the signals while it validates. Its temporary folder is `temporary`.
fn interrupted(playground: &Playground, signals: &[i32]) -> Run {
    let temporary = playground.path("temporary");
    fs::create_dir(&temporary).unwrap();
    let mut command = playground.mining(&["run", "--jobs", "1", "-vv"]);
    command.env("TMPDIR", temporary);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let store = playground.path("cache/index.sqlite");
    let deadline = Instant::now() + Duration::from_secs(120);
    while !store.exists() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(20));
    }
    // It has begun; where exactly it is struck must not matter.
    thread::sleep(Duration::from_millis(2500));
    for signal in signals {
        // SAFETY: the process is a child that has not been waited for, so its number is still its own.
        unsafe { libc::kill(i32::try_from(child.id()).unwrap(), *signal) };
        thread::sleep(Duration::from_millis(200));
    }
    Run::from(child.wait_with_output().unwrap())
}

#[test]
fn a_killed_run_goes_on_where_it_stopped_and_leaves_the_same_library() {
    let playground = Playground::new();
    interrupted(&playground, &[libc::SIGKILL]);
    playground.mine(&["run", "--quiet"]).succeeded();
    let (resumed, whole) = (tree(&playground.path("out")), tree(&made().path("out")));
    let names = |tree: &[(String, Vec<u8>)]| tree.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>();
    assert_eq!(names(&resumed), names(&whole));
    assert!(resumed == whole, "a file differs");
}

#[test]
fn an_interrupt_ends_in_good_order() {
    let playground = Playground::new();
    let run = interrupted(&playground, &[libc::SIGINT]);
    if run.status == 0 {
        // A fast machine was done before.
        return;
    }
    assert_eq!(run.status, 130, "{}", run.stderr);
    assert!(run.stderr.contains("what was finished is kept"), "{}", run.stderr);
    playground.mine(&["run", "--quiet"]).succeeded();
}

#[test]
fn a_second_interrupt_ends_at_once_and_leaves_nothing() {
    let playground = Playground::new();
    let run = interrupted(&playground, &[libc::SIGINT, libc::SIGINT]);
    let left: Vec<_> = fs::read_dir(playground.path("temporary")).unwrap().flatten().map(|it| it.file_name()).collect();
    assert!(left.is_empty(), "{left:?}: {}", run.stderr);
    if run.status == 0 {
        // A fast machine was done before.
        return;
    }
    assert_eq!(run.status, 130, "{}", run.stderr);
    assert!(run.stderr.contains("a second interrupt ends it at once"), "{}", run.stderr);
}

#[test]
fn a_worker_that_is_killed_costs_no_verdict() {
    let whole = Playground::new();
    whole.mine(&["run", "--level", "backward", "--quiet"]).succeeded();
    // Among the children are those of a worker that starts, that run a block, meet a challenge, and export a model.
    for number in [1, 8, 15] {
        let playground = Playground::new();
        let mut command = playground.mining(&["run", "--level", "backward", "--jobs", "2"]);
        command.env("NETQUARRY_LOG", "netquarry=debug");
        let mut run = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut told = BufReader::new(run.stderr.take().unwrap()).lines().map(Result::unwrap);
        // Children before that try the sandbox.
        assert!(told.any(|line| line.contains("tried the sandbox")));
        let rest = thread::spawn(move || told.collect::<Vec<_>>().join("\n"));
        let was_killed = kill_worker(&mut run, number);
        let (status, rest) = (run.wait().unwrap(), rest.join().unwrap());
        assert!(status.success() && was_killed && rest.contains("a Python worker was lost"), "child {number}: {rest}");
        assert!(tree(&playground.path("out")) == tree(&whole.path("out")), "child {number}: a file differs");
    }
}

/// Kills the worker of the run's child of this number, counted as they are seen; `false` where the run ends before.
fn kill_worker(run: &mut Child, number: usize) -> bool {
    let mut seen: BTreeSet<u32> = BTreeSet::new();
    while run.try_wait().unwrap().is_none() {
        for worker in children(run.id()) {
            for child in children(worker) {
                if seen.insert(child) && seen.len() == number {
                    // SAFETY: it had a child just now, so it runs, or is a process of this user that has just ended.
                    unsafe { libc::kill(i32::try_from(worker).unwrap(), libc::SIGKILL) };
                    return true;
                }
            }
        }
        thread::sleep(Duration::from_millis(2));
    }
    false
}

/// The processes that this one has started.
fn children(parent: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().filter_map(Result::ok);
    let listed = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    listed.flat_map(|pids| pids.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()).collect()
}
