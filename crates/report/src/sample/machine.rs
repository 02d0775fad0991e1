//! A machine that was examined.

use crate::conform::{self, Conformance, Verdict};
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

pub(crate) fn conformance() -> Conformance {
    let verdict = |name: &str, standing, found: &str| Verdict {
        name: name.to_owned(),
        asks: format!("{name} is taken"),
        source: "RFC 6455 section 5.2".to_owned(),
        standing,
        found: found.to_owned(),
    };
    let verdicts = vec![
        verdict("rsv1", conform::Standing::Held, "it closes with 1002"),
        verdict("rsv2", conform::Standing::Broken, "the server says nothing more"),
        verdict("rsv3", conform::Standing::NotAsked, "the server declines"),
    ];
    Conformance::new("0.1.0", "ws://127.0.0.1:9001/", Some("ws 8".to_owned()), verdicts)
}
