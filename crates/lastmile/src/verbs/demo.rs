//! `lastmile demo`: advises on a page that is part of the binary, with few settings and repeats, and names what to try next.

use crate::exit::Exit;
use crate::output;
use crate::{interrupt, links};
use lastmile_advise::record::Advice;
use lastmile_advise::{AdviseError, Options};
use lastmile_builtin_studies::fidelity;
use lastmile_report::Record as _;
use lastmile_report::screen;
use lastmile_report::terminal::TerminalStyle;
use lastmile_testbed::cpu_cost_model::{Choice, CostTable};
use lastmile_traffic::responses::har;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The page: the HAR of a shop, as examples/ has it.
const SHOP: &[u8] = include_bytes!("../../../../examples/shop.har");

/// A phone on a slow network, a modem, and cable.
const LINKS: &str = "wpt/3g,published/dialup-56k,wpt/cable";

/// One setting per coding, which compresses as fast as responses are made, and few repeats, so that the answer takes about a second.
/// Our own choice.
const SETTINGS: [&str; 3] = ["gzip:6", "br:5", "zstd:3"];
const REPEATS: NonZeroU64 = NonZeroU64::new(3).unwrap();

const NEXT: &str = "\
lastmile record URL            the traffic of your page
lastmile advise FILE           what to set for it
lastmile tune messages.txt     for WebSocket messages
lastmile load URL              what a server carries
lastmile time -- CMD           a command behind slow links
lastmile inspect trace.pcap    what a capture says
lastmile studies list          experiments to run
";

/// Advises on the page, and prints the answer for each link and what to try next.
///
/// # Errors
/// When Ctrl-C cannot be listened for, or stdout cannot be written.
pub(crate) fn demo() -> anyhow::Result<Exit> {
    output::note("page: examples/shop.har, with three settings; lastmile advise tries some thirty");
    let advice = match advise(interrupt::install_handler("stopping", "stopped at once".to_owned())?) {
        Err(error) if matches!(error.downcast_ref(), Some(AdviseError::Interrupted)) => return Ok(Exit::Interrupted),
        advice => advice?,
    };
    output::print_data(&shown(&advice, output::terminal_style()))?;
    Ok(Exit::Done)
}

fn advise(interrupt: Arc<AtomicBool>) -> anyhow::Result<Advice> {
    let page = har::read(SHOP, "examples/shop.har")?;
    let links = links::list(&[LINKS.to_owned()])?;
    let options = Options {
        links,
        levels: SETTINGS
            .iter()
            .map(|setting| setting.parse())
            .collect::<Result<_, _>>()?,
        repeats: REPEATS,
        repeats_max: REPEATS,
        model_error: fidelity::pages::recorded().model_error(),
        interrupt,
        ..Options::default()
    };
    let costs = CostTable::load(&Choice::Reference)?;
    Ok(lastmile_advise::advise(&page, &options, &costs, &mut |_| {})?)
}

/// The page as it is and at best on each link, the answer, and what to try next.
fn shown(advice: &Advice, style: TerminalStyle) -> String {
    let mut screen = advice.screen().expect("an advice has one");
    for group in &mut screen.bars {
        let last = group.bars.len().saturating_sub(1);
        group.bars.drain(1..last.max(1));
    }
    screen.table = None;
    screen.doubts.clear();
    screen.next.clear();
    format!("{}\n{NEXT}", screen::render(&screen, style))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_fits_on_a_screen_of_80_by_24_with_the_note() {
        let style = TerminalStyle {
            width: 80,
            colour: false,
        };
        let shown = shown(&advise(Arc::default()).unwrap(), style);
        assert!(shown.lines().count() <= 23, "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    }
}
