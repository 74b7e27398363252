//! The system calls that a process may make which runs foreign code, as seccomp filters.
//!
//! What is not listed is refused: new processes and programs, the network, signals to others, other processes' memory,
//! namespaces, mounts, and whatever the kernel will have learned by then. It is also refused to change the mode, the
//! owner, the times or the attributes of files, which Landlock does not cover.
//!
//! The lists come from following torch's forward and backward passes call by call, and from what the C library and
//! Python call for the same things on other machines.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

/// Stands in a filter for the number of the process that installs it, which nobody knows before there is the process.
pub(super) const OWN_PROCESS: u32 = 0x6e71_6f70;

const MEMORY: &[i64] = &[
    libc::SYS_brk,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_mincore,
    libc::SYS_msync,
    libc::SYS_membarrier,
];

/// Landlock decides which files. Opening one is listed with its arguments.
const FILES: &[i64] = &[
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_read,
    libc::SYS_pread64,
    libc::SYS_readv,
    libc::SYS_preadv,
    libc::SYS_write,
    libc::SYS_pwrite64,
    libc::SYS_writev,
    libc::SYS_pwritev,
    libc::SYS_lseek,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_pipe2,
    libc::SYS_flock,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_ftruncate,
    libc::SYS_fallocate,
    libc::SYS_fadvise64,
    libc::SYS_copy_file_range,
    libc::SYS_sendfile,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_statfs,
    libc::SYS_fstatfs,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlinkat,
    libc::SYS_getdents64,
    libc::SYS_getcwd,
    libc::SYS_chdir,
    libc::SYS_fchdir,
    libc::SYS_umask,
    libc::SYS_mkdirat,
    libc::SYS_renameat2,
    libc::SYS_unlinkat,
    libc::SYS_symlinkat,
    libc::SYS_linkat,
];

/// A thread is started by `clone`, which is listed with its arguments.
const THREADS: &[i64] = &[
    // The other filter answers this one.
    libc::SYS_clone3,
    libc::SYS_futex,
    libc::SYS_futex_waitv,
    libc::SYS_set_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_rseq,
    libc::SYS_sched_yield,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_restart_syscall,
];

/// Handling signals; sending one is `tgkill`, which is listed with its arguments.
const SIGNALS: &[i64] = &[
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigpending,
    libc::SYS_rt_sigsuspend,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_sigaltstack,
    libc::SYS_getitimer,
    libc::SYS_setitimer,
];

/// Time, and waiting for it or for data.
const WAITING: &[i64] = &[
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_eventfd2,
];

/// A pair of sockets leads nowhere but to the other: event loops have one to wake themselves up. Making one is listed with
/// its arguments.
const SOCKET_PAIRS: &[i64] = &[
    libc::SYS_sendto,
    libc::SYS_recvfrom,
    libc::SYS_sendmsg,
    libc::SYS_recvmsg,
    libc::SYS_shutdown,
    libc::SYS_getsockname,
    libc::SYS_getpeername,
    libc::SYS_getsockopt,
    libc::SYS_setsockopt,
];

/// What a process may know of itself and of the machine.
const FACTS: &[i64] = &[
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_gettid,
    libc::SYS_getpgid,
    libc::SYS_getsid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_getgroups,
    libc::SYS_getresuid,
    libc::SYS_getresgid,
    libc::SYS_getrusage,
    libc::SYS_getpriority,
    libc::SYS_times,
    libc::SYS_sysinfo,
    libc::SYS_uname,
    libc::SYS_getcpu,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_getparam,
    libc::SYS_sched_getscheduler,
    libc::SYS_getrandom,
];

/// Older names of calls of the lists above, which the C library still uses on this processor; and the state of its wide
/// registers.
#[cfg(target_arch = "x86_64")]
const OF_THE_PROCESSOR: &[i64] = &[
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_access,
    libc::SYS_readlink,
    libc::SYS_mkdir,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_unlink,
    libc::SYS_rmdir,
    libc::SYS_symlink,
    libc::SYS_link,
    libc::SYS_dup2,
    libc::SYS_pipe,
    libc::SYS_poll,
    libc::SYS_select,
    libc::SYS_epoll_wait,
    libc::SYS_time,
    libc::SYS_alarm,
    libc::SYS_pause,
    libc::SYS_getpgrp,
    libc::SYS_getrlimit,
    libc::SYS_arch_prctl,
];

/// `renameat`, which has no name in `libc` here.
#[cfg(target_arch = "aarch64")]
const OF_THE_PROCESSOR: &[i64] = &[38];

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const OF_THE_PROCESSOR: &[i64] = &[];

const ALLOWED: [&[i64]; 8] = [MEMORY, FILES, THREADS, SIGNALS, WAITING, SOCKET_PAIRS, FACTS, OF_THE_PROCESSOR];

/// What a process must do that forks, follows and ends children of its own, and what they have to do to confine
/// themselves. Landlock keeps its signals from others.
const NEEDED_TO_FORK: [i64; 11] = [
    libc::SYS_kill,
    libc::SYS_tgkill,
    libc::SYS_wait4,
    libc::SYS_pidfd_open,
    libc::SYS_setsid,
    libc::SYS_prctl,
    libc::SYS_prlimit64,
    libc::SYS_setrlimit,
    libc::SYS_landlock_restrict_self,
    libc::SYS_capget,
    libc::SYS_capset,
];

/// Asking whether a descriptor is a terminal, how much can be read from it, and setting how it behaves.
const CONTROLS: [u64; 6] =
    [libc::TCGETS, libc::TIOCGWINSZ, libc::FIONREAD, libc::FIONBIO, libc::FIOCLEX, libc::FIONCLEX];

/// What may be asked about a descriptor: neither to have signals sent to somebody nor to be told of what others do to a file.
const ABOUT_DESCRIPTORS: [i32; 13] = [
    libc::F_DUPFD,
    libc::F_DUPFD_CLOEXEC,
    libc::F_GETFD,
    libc::F_SETFD,
    libc::F_GETFL,
    libc::F_SETFL,
    libc::F_GETLK,
    libc::F_SETLK,
    libc::F_SETLKW,
    libc::F_OFD_GETLK,
    libc::F_OFD_SETLK,
    libc::F_OFD_SETLKW,
    libc::F_GETPIPE_SZ,
];

/// Without the flags that the kind of a socket comes with.
const KIND_OF_SOCKET: i32 = 0xf;

const NEW_NAMESPACES: i32 = libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Filters for this machine's processor, each in hexadecimal as the worker takes them; none where there are none.
pub(super) fn programs() -> Vec<String> {
    let Ok(architecture) = TargetArch::try_from(std::env::consts::ARCH) else {
        return Vec::new();
    };
    let mut allowed = allowed();
    // A thread is made by the same call as a process.
    allowed.insert(libc::SYS_clone, vec![rule([has_flags(0, libc::CLONE_THREAD, libc::CLONE_THREAD)])]);
    // `abort` sends a signal to its own thread.
    allowed.insert(libc::SYS_tgkill, vec![rule([equals(0, OWN_PROCESS.into())])]);
    // Reading a limit and setting one are the same call too; the third argument is the new limit.
    allowed.insert(libc::SYS_prlimit64, vec![rule([is_null(2)])]);
    let names = [libc::PR_SET_NAME, libc::PR_GET_NAME];
    allowed.insert(libc::SYS_prctl, names.map(|name| rule([equals(0, unsigned(name))])).into());
    filters(allowed, architecture)
}

/// Filters for a worker that imports foreign code before it forks.
pub(super) fn importer_programs() -> Vec<String> {
    let Ok(architecture) = TargetArch::try_from(std::env::consts::ARCH) else {
        return Vec::new();
    };
    let mut allowed = allowed();
    allowed.extend(NEEDED_TO_FORK.map(|number| (number, Vec::new())));
    allowed.insert(libc::SYS_clone, vec![rule([has_flags(0, NEW_NAMESPACES, 0)])]);
    filters(allowed, architecture)
}

fn allowed() -> Rules {
    let mut allowed: Rules =
        ALLOWED.iter().flat_map(|group| group.iter()).map(|number| (*number, Vec::new())).collect();
    allowed.insert(libc::SYS_ioctl, CONTROLS.map(|request| rule([equals(1, request)])).into());
    allowed.insert(libc::SYS_openat, opening(2));
    #[cfg(target_arch = "x86_64")]
    allowed.insert(libc::SYS_open, opening(1));
    allowed.insert(libc::SYS_fcntl, ABOUT_DESCRIPTORS.map(|command| rule([equals(1, unsigned(command))])).into());
    // One of datagrams would send to any socket that has a path.
    let stream = has_flags(1, KIND_OF_SOCKET, libc::SOCK_STREAM);
    allowed.insert(libc::SYS_socketpair, vec![rule([equals(0, unsigned(libc::AF_UNIX)), stream])]);
    allowed
}

/// The first versions of Landlock let everybody empty a file who may read it: by opening it for that, or by `truncate`, which is
/// not listed. With the flags in `argument`, a file is emptied by who opens it to write to it or by nobody.
fn opening(argument: u8) -> Vec<SeccompRule> {
    let empties_nothing = has_flags(argument, libc::O_TRUNC, 0);
    let writes = [libc::O_WRONLY, libc::O_RDWR].map(|access| has_flags(argument, libc::O_ACCMODE, access));
    [empties_nothing].into_iter().chain(writes).map(|condition| rule([condition])).collect()
}

/// The list is installed last: after it, no filter can be installed.
fn filters(allowed: Rules, architecture: TargetArch) -> Vec<String> {
    // The arguments of clone3 lie in memory, where no filter can look. The C library falls back to clone if, and only
    // if, the kernel seems not to know clone3.
    let unknown = Rules::from([(libc::SYS_clone3, Vec::new())]);
    let unknown = compile(unknown, SeccompAction::Allow, error(libc::ENOSYS), architecture);
    let allowed = compile(allowed, error(libc::EPERM), SeccompAction::Allow, architecture);
    vec![hexadecimal(&unknown), hexadecimal(&allowed)]
}

fn equals(argument: u8, value: u64) -> SeccompCondition {
    condition(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
}

/// Of the flags in `mask`, those in `flags` are there and no other.
fn has_flags(argument: u8, mask: i32, flags: i32) -> SeccompCondition {
    let [mask, flags] = [mask, flags].map(unsigned);
    condition(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(mask), flags)
}

fn is_null(argument: u8) -> SeccompCondition {
    condition(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, 0)
}

fn condition(argument: u8, length: SeccompCmpArgLen, operator: SeccompCmpOp, value: u64) -> SeccompCondition {
    SeccompCondition::new(argument, length, operator, value).expect("the argument's number is below six")
}

/// All of the conditions have to hold.
fn rule<const COUNT: usize>(conditions: [SeccompCondition; COUNT]) -> SeccompRule {
    SeccompRule::new(conditions.into()).expect("there is a condition")
}

fn unsigned(number: i32) -> u64 {
    number.cast_unsigned().into()
}

fn error(number: i32) -> SeccompAction {
    SeccompAction::Errno(number.unsigned_abs())
}

/// What becomes of a call that has a rule, and of any other.
fn compile(rules: Rules, other: SeccompAction, ruled: SeccompAction, architecture: TargetArch) -> BpfProgram {
    let filter = SeccompFilter::new(rules, other, ruled, architecture).expect("the two actions differ");
    filter.try_into().expect("the filter is far below the kernel's longest")
}

/// The instructions as they lie in memory: `struct sock_filter`, eight bytes each.
fn hexadecimal(program: &BpfProgram) -> String {
    let mut text = String::with_capacity(program.len() * 16);
    for instruction in program {
        let code = instruction.code.to_ne_bytes();
        let constant = instruction.k.to_ne_bytes();
        for byte in code.iter().chain(&[instruction.jt, instruction.jf]).chain(&constant) {
            text.push_str(&format!("{byte:02x}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_process_stands_in_one_place() {
        let mark: String = OWN_PROCESS.to_ne_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        let count = |programs: Vec<String>| programs.concat().matches(&mark).count();
        assert_eq!(count(programs()), 1);
        assert_eq!(count(importer_programs()), 0);
    }

    #[test]
    fn a_call_stands_in_one_list() {
        let mut all: Vec<i64> = ALLOWED.concat();
        all.extend(NEEDED_TO_FORK);
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
