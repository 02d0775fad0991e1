//! `lastmile doctor`: what can this machine do, and what is to be done where it cannot?

use crate::cli::doctor::DoctorArgs;
use crate::exit::{Exit, Unable};
use crate::output;
use lastmile_report::doctor::{Ability, Examination};

/// Examines this machine. Must run before any thread is started.
///
/// # Errors
/// When the emulated world does not work here, after that was shown.
pub(crate) fn doctor(args: &DoctorArgs) -> anyhow::Result<Exit> {
    let examination = Examination::new(env!("CARGO_PKG_VERSION"), here::machine(), here::peers());
    output::record(&examination, args.format.format)?;
    if !examination.emulated_world {
        let unable = "the emulated world does not work here: what is missing stands above, with its remedy";
        return Err(Unable(unable.to_owned()).into());
    }
    Ok(Exit::Done)
}

#[cfg(target_os = "linux")]
mod here {
    use super::Ability;
    use lastmile_report::doctor::Standing;
    use lastmile_study::peer::{self, PeerSpec};
    use lastmile_world::emu;

    pub(super) fn machine() -> Vec<Ability> {
        let told = |ability: emu::Ability| Ability {
            name: ability.name,
            standing: match ability.standing {
                emu::Standing::Ready => Standing::Ready,
                emu::Standing::Limited => Standing::Limited,
                emu::Standing::Missing => Standing::Missing,
            },
            found: ability.found,
            remedy: ability.remedy,
        };
        emu::examine().into_iter().map(told).collect()
    }

    pub(super) fn peers() -> Vec<Ability> {
        match peer::folder().and_then(|folder| PeerSpec::all(&folder)) {
            Ok(peers) => peers.iter().map(told).collect(),
            Err(error) => vec![Ability {
                name: "peers".to_owned(),
                standing: Standing::Limited,
                found: error.to_string(),
                remedy: Some("name the folder of the peers in LASTMILE_PEERS".to_owned()),
            }],
        }
    }

    fn told(peer: &PeerSpec) -> Ability {
        let (standing, found, remedy) = match peer.is_installed() {
            Ok(version) => (Standing::Ready, version.to_string(), None),
            Err(missing) => (Standing::Limited, missing.what, Some(missing.remedy)),
        };
        Ability {
            name: peer.name.clone(),
            standing,
            found,
            remedy,
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod here {
    use super::Ability;
    use lastmile_report::doctor::Standing;

    pub(super) fn machine() -> Vec<Ability> {
        vec![Ability {
            name: "network namespaces".to_owned(),
            standing: Standing::Missing,
            found: format!("{} has none", std::env::consts::OS),
            remedy: Some("run lastmile on Linux, in a virtual machine at need".to_owned()),
        }]
    }

    pub(super) fn peers() -> Vec<Ability> {
        Vec::new()
    }
}
