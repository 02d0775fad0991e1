//! `lastmile doctor`: checks what this machine can do for the emulated world, with remedies.

mod document;
pub(crate) mod record;

use crate::cli::doctor::DoctorArgs;
use crate::exit::{Exit, UnavailableError};
use crate::output;
use crate::verbs::doctor::record::{Check, DoctorReport};

/// Examines this machine. Must run before any thread is started.
///
/// # Errors
/// When the emulated world does not work here; the record is printed first.
pub(crate) fn doctor(args: &DoctorArgs) -> anyhow::Result<Exit> {
    let examination = DoctorReport::new(env!("CARGO_PKG_VERSION"), here::machine(), here::peers());
    output::print_record(&examination, args.format.format())?;
    if !examination.emulated_world {
        let unable = "the emulated world does not work here: what is missing is listed above, with its remedy";
        return Err(UnavailableError(unable.to_owned()).into());
    }
    Ok(Exit::Done)
}

#[cfg(target_os = "linux")]
mod here {
    use super::Check;
    use crate::verbs::doctor::record::CheckStatus;
    use lastmile_testbed::peer::{self, PeerSpec};
    use lastmile_world::emu;

    pub(super) fn machine() -> Vec<Check> {
        let peer_check = |ability: emu::Check| Check {
            name: ability.name,
            standing: match ability.status {
                emu::CheckStatus::Ready => CheckStatus::Ready,
                emu::CheckStatus::Limited => CheckStatus::Limited,
                emu::CheckStatus::Missing => CheckStatus::Missing,
            },
            found: ability.found,
            remedy: ability.remedy,
        };
        emu::examine().into_iter().map(peer_check).collect()
    }

    pub(super) fn peers() -> Vec<Check> {
        match peer::folder().and_then(|folder| PeerSpec::all(&folder)) {
            Ok(peers) => peers.iter().map(peer_check).collect(),
            Err(error) => vec![Check {
                name: "peers".to_owned(),
                standing: CheckStatus::Limited,
                found: error.to_string(),
                remedy: Some("name the folder of the peers in LASTMILE_PEERS".to_owned()),
            }],
        }
    }

    fn peer_check(peer: &PeerSpec) -> Check {
        let (standing, found, remedy) = match peer.is_installed() {
            Ok(version) => (CheckStatus::Ready, version, None),
            Err(missing) => (CheckStatus::Limited, missing.what, Some(missing.remedy)),
        };
        Check {
            name: peer.name.clone(),
            standing,
            found,
            remedy,
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod here {
    use super::Check;
    use crate::verbs::doctor::record::CheckStatus;

    pub(super) fn machine() -> Vec<Check> {
        vec![Check {
            name: "network namespaces".to_owned(),
            standing: CheckStatus::Missing,
            found: format!("{} has none", std::env::consts::OS),
            remedy: Some("run lastmile on Linux, if need be in a virtual machine".to_owned()),
        }]
    }

    pub(super) fn peers() -> Vec<Check> {
        Vec::new()
    }
}
