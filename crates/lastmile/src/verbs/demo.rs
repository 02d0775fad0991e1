//! `lastmile demo`: advises on a page that is part of the binary, with few settings and repeats, and names what to try next.

use crate::exit::Exit;
use crate::output::{self, Format};
use crate::{interrupt, links};
use lastmile_advise::record::Advice;
use lastmile_advise::{self as advise, AdviseError, Options};
use lastmile_builtin_studies::fidelity;
use lastmile_codec::content::CodecSpec;
use lastmile_report::csv::Rows;
use lastmile_report::document::Block;
use lastmile_report::{Detail, Document, Record};
use lastmile_testbed::cpu_cost_model::{Choice, CostTable};
use lastmile_traffic::responses::har;
use serde::Serialize;
use std::num::NonZeroU64;

/// The page: the HAR of a shop, as examples/ has it.
const SHOP: &[u8] = include_bytes!("../../../../examples/shop.har");

/// A phone on a slow network, a modem, and cable.
const LINKS: &str = "wpt/3g,published/dialup-56k,wpt/cable";

/// Of each coding a level for what is compressed per request, and of br the one for files: what `advise` recommends for most pages. Few, so
/// that an answer takes a second. Our own choice, as are the repeats.
const SETTINGS: [&str; 4] = ["gzip:6", "br:5", "br:11", "zstd:3"];
const REPEATS: NonZeroU64 = NonZeroU64::new(3).unwrap();

const NEXT: &str = "\
lastmile advise mine.har       the same for your page, every setting, a report
lastmile tune messages.txt     compression for WebSocket messages
lastmile encode records.jsonl  JSON, protobuf and others, in batches
lastmile load URL              the highest rate that a server serves in time
lastmile link wpt/3g -- CMD    any command behind a slow link
lastmile inspect trace.pcap    retransmissions, round trips and requests
lastmile monitor FOLDER        keeps events that sensors send; query, audit
lastmile studies               reproducible experiments, to run and change
lastmile help                  all verbs; help VERB has examples
";

/// Advises on the page, and prints the answer for each link and what to try next.
///
/// # Errors
/// When Ctrl-C cannot be listened for, or stdout cannot be written.
pub(crate) fn demo() -> anyhow::Result<Exit> {
    let traffic = har::read(SHOP, "examples/shop.har")?;
    let links = links::list(&[LINKS.to_owned()])?;
    let options = Options {
        links: links.into_iter().map(|link| (link.name(), link)).collect(),
        levels: SETTINGS
            .iter()
            .map(|setting| setting.parse())
            .collect::<Result<Vec<CodecSpec>, _>>()?,
        repeats: REPEATS,
        repeats_max: REPEATS,
        model_error: fidelity::pages::recorded().model_error(),
        interrupt: interrupt::install_handler("stopping", "stopped at once".to_owned())?,
        ..Options::default()
    };
    match advise::advise(&traffic, &options, &CostTable::load(&Choice::Reference)?, &mut |_| {}) {
        Ok(advice) => output::print_record(&Demo(advice), Format::Table)?,
        Err(AdviseError::Interrupted) => return Ok(Exit::Interrupted),
        Err(error) => return Err(error.into()),
    }
    Ok(Exit::Done)
}

/// The answers alone, without their grounds.
#[derive(Serialize)]
struct Demo(Advice);

impl Record for Demo {
    fn document(&self, _: Detail) -> Document {
        let answers = self.0.links.iter().map(|link| Block::Answer(link.summary.clone()));
        let next = Block::Code {
            title: "What to try next".to_owned(),
            text: NEXT.to_owned(),
            note: String::new(),
        };
        answers.chain([next]).collect::<Vec<_>>().into()
    }

    fn rows(&self) -> Rows {
        self.0.rows()
    }
}
