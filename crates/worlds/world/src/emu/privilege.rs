//! Acquires the right to make network namespaces, or reports what is missing.
//!
//! Root has the right. Other users have it inside a user namespace of their own, if the machine allows those. Entering one changes
//! the whole process, so it is done once, before any thread is started.

use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getegid, geteuid};
use std::fmt;
use std::fs;
use std::io;

/// The right by which namespaces are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Privilege {
    /// The process already had the capabilities, as root's processes have.
    Given,
    /// It entered a user namespace of its own, where its user and group have the same numbers as outside.
    UserNamespace,
}

impl fmt::Display for Privilege {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Given => "not needed: this user may make network namespaces",
            Self::UserNamespace => "entered: this user may make network namespaces inside",
        })
    }
}

/// The reason why this machine cannot run the emulated world; the message ends with a remedy.
#[derive(Debug, thiserror::Error)]
#[error("{what}: {reason}; {remedy}")]
pub struct Unavailable {
    /// The step that failed.
    pub what: String,
    /// The system's error.
    pub reason: String,
    /// What the user can do about it.
    pub remedy: String,
}

impl Unavailable {
    pub(super) fn new(what: &str, reason: &dyn std::fmt::Display, remedy: &str) -> Self {
        Self {
            what: what.to_owned(),
            reason: reason.to_string(),
            remedy: remedy.to_owned(),
        }
    }

    /// An error that nothing more is known of.
    pub(super) fn unexplained(what: &str, reason: &dyn std::fmt::Display) -> Self {
        Self::new(what, reason, "run `lastmile doctor` to see what this machine supports")
    }
}

/// CAP_NET_ADMIN and CAP_SYS_ADMIN (capabilities(7)): to set up interfaces, and to make and enter namespaces.
const CAPABILITIES: u64 = 1 << 12 | 1 << 21;

/// Acquires the right to make network namespaces, by entering a user namespace if needed. May be called again.
///
/// # Errors
/// When the machine refuses, or a user namespace is needed and another thread is already running.
pub fn acquire() -> Result<Privilege, Unavailable> {
    if has_capabilities() {
        return Ok(Privilege::Given);
    }
    let (user, group) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER).map_err(|error| refused(&error.into()))?;
    let map = |file: &str, text: String| {
        fs::write(format!("/proc/self/{file}"), text).map_err(|error| {
            Unavailable::new(
                &format!("writing /proc/self/{file}"),
                &error,
                "mount /proc writable, or run as root",
            )
        })
    };
    // An unprivileged process must give up changing groups before it may map its own (user_namespaces(7)).
    map("setgroups", "deny".to_owned())?;
    map("uid_map", format!("{user} {user} 1"))?;
    map("gid_map", format!("{group} {group} 1"))?;
    if !has_capabilities() {
        return Err(refused(&io::Error::from(io::ErrorKind::PermissionDenied)));
    }
    Ok(Privilege::UserNamespace)
}

/// Whether the calling thread has the capabilities.
fn has_capabilities() -> bool {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    effective
        .and_then(|set| u64::from_str_radix(set.trim(), 16).ok())
        .is_some_and(|set| set & CAPABILITIES == CAPABILITIES)
}

/// The error of entering a user namespace, with the remedy that the system's settings suggest.
fn refused(error: &io::Error) -> Unavailable {
    let setting = |name: &str| fs::read_to_string(format!("/proc/sys/{name}")).ok();
    let is = |name: &str, value: &str| setting(name).is_some_and(|text| text.trim() == value);
    let remedy = if is("user/max_user_namespaces", "0") {
        "this machine allows no user namespaces: `sysctl user.max_user_namespaces=10000` as root, or run as root"
    } else if is("kernel/unprivileged_userns_clone", "0") {
        "this machine allows user namespaces to root only: `sysctl kernel.unprivileged_userns_clone=1` as root, or run as root"
    } else if is("kernel/apparmor_restrict_unprivileged_userns", "1") {
        "AppArmor removes the capabilities of user namespaces: `sysctl kernel.apparmor_restrict_unprivileged_userns=0` as root, or run as root"
    } else if error.kind() == io::ErrorKind::InvalidInput {
        "lastmile must acquire this right before it starts any thread"
    } else {
        "in a container, permit the unshare call (docker run --cap-add NET_ADMIN --cap-add SYS_ADMIN --device /dev/net/tun), or run as root"
    };
    Unavailable::new("making a user namespace", &error, remedy)
}
