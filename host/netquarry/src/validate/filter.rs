//! The system calls that a child may not make, as seccomp filters.
//!
//! This is a list of what is refused, not of what is allowed: no new processes or programs, no network, no signals to
//! others, no raising of limits, no reading of other processes. It does not confine the file system.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

/// Refused whatever the arguments.
const REFUSED: &[i64] = &[
    libc::SYS_execve,
    libc::SYS_execveat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_fork,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_vfork,
    libc::SYS_socket,
    libc::SYS_io_uring_setup,
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_send_signal,
    libc::SYS_pidfd_getfd,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_setrlimit,
    libc::SYS_setsid,
    libc::SYS_setpgid,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
];

/// What a process must do that forks, follows and ends children of its own, and what they have to do to confine themselves.
const NEEDED_TO_FORK: [i64; 5] =
    [libc::SYS_kill, libc::SYS_tkill, libc::SYS_setsid, libc::SYS_setpgid, libc::SYS_setrlimit];

/// Filters for a worker that imports foreign code before it forks: what [`programs`] refuses, but for what a worker has
/// to do.
pub(super) fn importer_programs() -> Vec<String> {
    let Ok(architecture) = TargetArch::try_from(std::env::consts::ARCH) else {
        return Vec::new();
    };
    let refused = REFUSED.iter().filter(|number| !NEEDED_TO_FORK.contains(number) && !is_fork(**number));
    let rules = refused.map(|number| (*number, Vec::new())).collect();
    vec![hexadecimal(&compile(rules, libc::EPERM, architecture))]
}

#[cfg(target_arch = "x86_64")]
fn is_fork(number: i64) -> bool {
    number == libc::SYS_fork || number == libc::SYS_vfork
}

#[cfg(not(target_arch = "x86_64"))]
fn is_fork(_number: i64) -> bool {
    false
}

/// Filters for this machine's processor, each in hexadecimal as the worker takes them; none where there are none.
pub(super) fn programs() -> Vec<String> {
    let Ok(architecture) = TargetArch::try_from(std::env::consts::ARCH) else {
        return Vec::new();
    };
    let without_conditions = |number: &i64| (*number, Vec::new());
    let mut refused: BTreeMap<i64, Vec<SeccompRule>> = REFUSED.iter().map(without_conditions).collect();
    // A thread is made by the same call as a process.
    let no_thread = SeccompCmpOp::MaskedEq(libc::CLONE_THREAD as u64);
    refused.insert(libc::SYS_clone, vec![rule(0, SeccompCmpArgLen::Dword, no_thread)]);
    // Reading a limit and setting one are the same call too; the third argument is the new limit.
    refused.insert(libc::SYS_prlimit64, vec![rule(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne)]);
    // The arguments of clone3 lie in memory, where no filter can look. The C library falls back to clone if, and only
    // if, the kernel seems not to know clone3.
    let unknown = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    let filters = [(refused, libc::EPERM), (unknown, libc::ENOSYS)];
    filters.into_iter().map(|(rules, error)| hexadecimal(&compile(rules, error, architecture))).collect()
}

fn rule(argument: u8, length: SeccompCmpArgLen, operator: SeccompCmpOp) -> SeccompRule {
    let condition = SeccompCondition::new(argument, length, operator, 0).expect("the argument's number is below six");
    SeccompRule::new(vec![condition]).expect("there is a condition")
}

fn compile(rules: BTreeMap<i64, Vec<SeccompRule>>, error: i32, architecture: TargetArch) -> BpfProgram {
    let error = SeccompAction::Errno(u32::try_from(error).expect("error numbers are positive"));
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, error, architecture).expect("the two actions differ");
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
