//! How large is each body under each setting? Exactly, unless finding out would take too long: then from its beginning.
//!
//! Nothing coded is kept and no body is copied: what is coded is counted as it comes, by as many threads as there are, each with one
//! coder's memory.

use super::page::Page;
use super::parallel::{Interrupted, Workers};
use crate::cost::{Choice, CostTable, Operation};
use lastmile_payload::codec::{CodecSpec, encoded_size};
use lastmile_payload::traffic::{Body, Traffic};
use lastmile_units::{Bytes, Seed};
use std::collections::BTreeMap;
use std::time::Duration;

/// A body of up to this size is always coded whole.
const ALWAYS_WHOLE: usize = 1_000_000;

/// A longer one may take so long under one setting, by the reference cost table; if it would take longer, only a beginning that takes
/// about that long is coded. Both are our own choice: a 200 MB body under every setting considered then takes some ten seconds.
const BUDGET: Duration = Duration::from_millis(250);

/// What a body measures under a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) bytes: Bytes,
    /// Whether only its beginning was coded, and the rest taken to be alike.
    pub(super) estimated: bool,
}

/// The sizes of every body that was coded.
#[derive(Debug, Default)]
pub(super) struct Sizes(BTreeMap<(usize, CodecSpec), Size>);

impl Sizes {
    /// Of an item under a setting; none where that was not tried.
    pub(super) fn get(&self, item: usize, codec: CodecSpec) -> Option<Size> {
        self.0.get(&(item, codec)).copied()
    }

    /// The levels that were tried on an item.
    pub(super) fn of_item(&self, item: usize) -> impl Iterator<Item = (CodecSpec, Size)> {
        let all = (item, CodecSpec::IDENTITY)..(item + 1, CodecSpec::IDENTITY);
        self.0.range(all).map(|((_, codec), size)| (*codec, *size))
    }

    /// Codes each of `items` with each of `codecs`.
    pub(super) fn measure(
        &mut self,
        traffic: &Traffic,
        page: &Page,
        items: &[usize],
        codecs: &[CodecSpec],
        workers: &Workers<'_>,
        on_done: &mut dyn FnMut(usize, usize),
    ) -> Result<(), Interrupted> {
        let reference = CostTable::load(&Choice::Reference).expect("the table that ships can be read");
        let mut jobs: Vec<Job<'_>> = Vec::new();
        for item in items {
            let Body::Present(octets) = &traffic.responses[page.items[*item].response].body else {
                continue;
            };
            for codec in codecs.iter().filter(|codec| self.get(*item, **codec).is_none()) {
                jobs.push(Job::new(*item, octets, *codec, &reference));
            }
        }
        // The longest first, so that no thread is left with one at the end.
        jobs.sort_by_key(|job| (std::cmp::Reverse(job.expected), job.item, job.codec));
        let total = jobs.len();
        let sizes = workers.run(&jobs, Job::run, &mut |done| on_done(done, total))?;
        self.0
            .extend(jobs.iter().zip(sizes).map(|(job, size)| ((job.item, job.codec), size)));
        Ok(())
    }
}

struct Job<'a> {
    item: usize,
    codec: CodecSpec,
    octets: &'a [u8],
    /// How many of them are coded.
    beginning: usize,
    expected: Duration,
}

impl<'a> Job<'a> {
    fn new(item: usize, octets: &'a [u8], codec: CodecSpec, costs: &CostTable) -> Self {
        // Equal seeds, and so equal ranks: only the size matters.
        let mut rng = Seed::new(0).rng();
        let whole = costs.draw(&mut rng, Operation::Encode(codec), Bytes::from(octets.len()));
        let share = BUDGET.as_secs_f64() / whole.as_secs_f64().max(1e-9);
        let beginning = ((octets.len() as f64 * share.min(1.0)) as usize)
            .max(ALWAYS_WHOLE)
            .min(octets.len());
        let expected = whole.mul_f64(beginning as f64 / octets.len().max(1) as f64);
        Self {
            item,
            codec,
            octets,
            beginning,
            expected,
        }
    }

    fn run(&self) -> Size {
        let coded = encoded_size(self.codec, [&self.octets[..self.beginning]]);
        if self.beginning == self.octets.len() {
            return Size {
                bytes: coded,
                estimated: false,
            };
        }
        let scaled = u128::from(coded.get()) * self.octets.len() as u128 / self.beginning.max(1) as u128;
        Size {
            bytes: Bytes::new(scaled as u64),
            estimated: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::tests::{response, text, traffic};
    use lastmile_payload::traffic::Origin;
    use std::num::NonZeroUsize;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn a_long_body_is_estimated_from_its_beginning_and_a_short_one_is_exact() {
        let bodies = [text(50_000), text(3_000_000)];
        let responses = bodies
            .clone()
            .map(|body| response("/", "text/html", Origin::Static, Body::Present(body)));
        let traffic = traffic(responses.to_vec());
        let page = Page::of(&traffic);
        let interrupt = AtomicBool::new(false);
        let workers = Workers {
            threads: NonZeroUsize::MIN,
            interrupt: &interrupt,
        };
        let (slow, fast) = ("br:10".parse().unwrap(), "zstd:1".parse().unwrap());
        let mut sizes = Sizes::default();
        sizes
            .measure(&traffic, &page, &[0, 1], &[slow, fast], &workers, &mut |_, _| {})
            .unwrap();
        for (item, codec) in [(0, slow), (0, fast), (1, fast)] {
            let exact = encoded_size(codec, [&bodies[item][..]]);
            assert_eq!(
                sizes.get(item, codec),
                Some(Size {
                    bytes: exact,
                    estimated: false
                }),
                "{codec}"
            );
        }
        let estimate = sizes.get(1, slow).unwrap();
        assert!(estimate.estimated);
        // The text is alike throughout, but for what a coder learns on the way: within a tenth.
        let exact = encoded_size(slow, [&bodies[1][..]]).as_f64();
        assert!(
            (estimate.bytes.as_f64() / exact - 1.0).abs() < 0.1,
            "{} for {exact} B",
            estimate.bytes
        );
    }
}
