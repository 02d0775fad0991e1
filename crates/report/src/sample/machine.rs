//! A machine that was examined.

use crate::doctor::{Ability, Examination, Standing};

pub(crate) fn examination() -> Examination {
    let ability = |name: &str, standing, found: &str, remedy: &str| Ability {
        name: name.to_owned(),
        standing,
        found: found.to_owned(),
        remedy: (!remedy.is_empty()).then(|| remedy.to_owned()),
    };
    let machine = vec![
        ability(
            "user namespaces",
            Standing::Ready,
            "entered: this user may make network namespaces inside",
            "",
        ),
        ability("/dev/net/tun", Standing::Ready, "a host is attached by it", ""),
        ability(
            "SCHED_FIFO",
            Standing::Limited,
            "refused: on a busy machine packets will be late",
            "run as root",
        ),
    ];
    let peers = vec![ability(
        "nginx",
        Standing::Limited,
        "there is no program nginx",
        "`make peers` installs it (as root: apt-get install nginx-light)",
    )];
    Examination::new("0.1.0", machine, peers)
}
