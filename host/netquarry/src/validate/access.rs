//! What of the machine a process may touch, as Landlock rulesets.
//!
//! The host opens what is allowed and makes a ruleset; a process gets it over its socket and restricts itself with it.
//! What no rule names is out of reach. A ruleset only ever takes away: a process that is forked from a restricted one has
//! what both rulesets allow, and neither may signal or trace what stands above it.
//!
//! Landlock does not cover `stat`: that a file exists, and how large it is, is no secret.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope, make_bitflags,
};

use crate::environment::Environment;

/// The newest version of the kernel's interface whose restrictions have been tried with torch.
const NEWEST: ABI = ABI::V9;

/// What processes read beside Python: shared libraries and how they are found, the time zone, and what torch and numpy
/// ask about the processor.
pub(super) const SYSTEM: [&str; 14] = [
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    // Where these distributions keep all of their libraries.
    "/nix/store",
    "/gnu/store",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/sys/devices/system/cpu",
    "/dev/zero",
    "/dev/random",
    "/dev/urandom",
];

/// The only file outside of its scratch folder that a process writes to.
const SINK: &str = "/dev/null";

const READ: BitFlags<AccessFs> = make_bitflags!(AccessFs::{ReadFile | ReadDir});

const READ_AND_WRITE: BitFlags<AccessFs> = make_bitflags!(AccessFs::{
    ReadFile | ReadDir | WriteFile | Truncate | MakeReg | MakeDir | MakeSym | MakeFifo | RemoveFile | RemoveDir | Refer
});

/// What every process may read, opened once.
#[derive(Debug)]
pub(super) struct Access {
    common: Vec<PathFd>,
    /// What restricting itself protects from, by the names that verdicts give it; nothing where the kernel has no Landlock.
    pub(super) protections: Vec<&'static str>,
    /// What a process may do in its scratch folder, in the kernel's numbers: for the child that mounts something there.
    pub(super) scratch_rights: u64,
}

/// What one process may touch beside what all may.
#[derive(Debug)]
pub(super) struct Grant {
    pub(super) read: Vec<PathBuf>,
    pub(super) write: PathBuf,
}

impl Access {
    pub(super) fn new(environment: &Environment) -> Self {
        let places = SYSTEM.iter().map(Path::new).chain(environment.prefixes.iter().map(PathBuf::as_path));
        // A symbolic link is opened as what it leads to.
        Self { common: places.filter_map(open).collect(), protections: supported(), scratch_rights: scratch_rights() }
    }

    /// A ruleset; none where the kernel has no Landlock.
    ///
    /// # Errors
    /// The kernel refuses to make it, for want of memory or of descriptors.
    pub(super) fn ruleset(&self, grant: &Grant) -> Result<Option<OwnedFd>, RulesetError> {
        if self.protections.is_empty() {
            return Ok(None);
        }
        let mut ruleset = strictest()?.create()?;
        for place in &self.common {
            ruleset = allow(ruleset, place, READ)?;
        }
        for place in grant.read.iter().filter_map(|path| open(path)) {
            ruleset = allow(ruleset, &place, READ)?;
        }
        for place in [Path::new(SINK), &grant.write].into_iter().filter_map(open) {
            ruleset = allow(ruleset, &place, READ_AND_WRITE)?;
        }
        Ok(ruleset.into())
    }
}

/// What is not there needs no rule.
fn open(path: &Path) -> Option<PathFd> {
    PathFd::new(path).ok()
}

/// As far as the kernel goes; rights that only folders have are left out of the rule for a file.
fn allow(ruleset: RulesetCreated, place: &PathFd, rights: BitFlags<AccessFs>) -> Result<RulesetCreated, RulesetError> {
    ruleset.add_rule(PathBeneath::new(place, rights))
}

/// Refuses all that this kernel can refuse.
fn strictest() -> Result<Ruleset, RulesetError> {
    Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))
}

/// Refuses what it is told to, or is an error where this kernel cannot.
fn exactly() -> Ruleset {
    Ruleset::default().set_compatibility(CompatLevel::HardRequirement)
}

/// As far as this kernel knows them: it takes no rule with another.
fn scratch_rights() -> u64 {
    let known = READ_AND_WRITE.iter().filter(|right| exactly().handle_access(*right).is_ok());
    known.collect::<BitFlags<AccessFs>>().bits()
}

/// The names of the parts of [`strictest`] that this kernel has.
fn supported() -> Vec<&'static str> {
    let parts = [
        ("landlock-files", exactly().handle_access(AccessFs::from_all(ABI::V1))),
        ("landlock-truncation", exactly().handle_access(AccessFs::Truncate)),
        ("landlock-devices", exactly().handle_access(AccessFs::IoctlDev)),
        ("landlock-network", exactly().handle_access(AccessNet::from_all(ABI::V4))),
        ("landlock-signals", exactly().scope(Scope::Signal)),
        ("landlock-abstract-sockets", exactly().scope(Scope::AbstractUnixSocket)),
    ];
    parts.into_iter().filter(|(_, part)| part.is_ok()).map(|(name, _)| name).collect()
}
