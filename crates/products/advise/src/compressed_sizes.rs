//! The size of each body under each setting: exact, or estimated from the body's beginning where compressing everything would take too long.
//!
//! A setting can only be replayed, and so recommended, once all of its sizes are exact: what slow settings save depends on the whole body.
//! No output is stored and no body is copied: the compressed bytes are counted as they are produced, and each thread uses the memory of
//! one compressor.

use lastmile_codec::content::{CodecSpec, encoded_size};
use lastmile_testbed::cpu_cost_model::{Choice, CostTable, Operation};
use lastmile_units::workers::{Interrupted, Workers};
use lastmile_units::{ByteCount, Seed};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::Duration;

/// Where compressing every body under every setting takes no longer than this, by the reference cost table over the threads, all sizes are
/// exact. Our own choice.
pub(super) const EXACT_WITHIN: Duration = Duration::from_secs(60);

/// An estimate is made from at least this much of a body: our own choice, the window of gzip twice.
const BEGINNING_MIN: usize = 64 * 1024;

/// The size of a body under a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) bytes: ByteCount,
    /// Whether only its beginning was compressed, and the rest assumed to compress alike.
    pub(super) estimated: bool,
}

/// How much of each body is compressed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Extent {
    /// All of it.
    Whole,
    /// All of it where everything takes no longer than this. Else each setting has an equal share of that time: a fast one compresses
    /// every body whole within its share, a slow one the beginnings.
    Within(Duration),
}

/// The sizes of every body that was compressed.
#[derive(Debug, Default)]
pub(super) struct Sizes(BTreeMap<(usize, CodecSpec), Size>);

impl Sizes {
    /// The size of an item under a setting; none where that was not tried.
    pub(super) fn get(&self, item: usize, codec: CodecSpec) -> Option<Size> {
        self.0.get(&(item, codec)).copied()
    }

    /// The codecs that an item was compressed with as a whole, with its sizes.
    pub(super) fn exact_sizes(&self, item: usize) -> impl Iterator<Item = (CodecSpec, ByteCount)> {
        let all = (item, CodecSpec::IDENTITY)..(item + 1, CodecSpec::IDENTITY);
        let exact = self.0.range(all).filter(|(_, size)| !size.estimated);
        exact.map(|((_, codec), size)| (*codec, size.bytes))
    }

    /// Compresses each of `bodies`, of the items before them, with each of `codecs`, as far as that is not done. `on_done` is given the CPU time of what is done and
    /// of everything, by the reference cost table, in milliseconds.
    pub(super) fn measure(
        &mut self,
        bodies: &[(usize, &[u8])],
        codecs: &[CodecSpec],
        extent: Extent,
        workers: &Workers<'_>,
        on_done: &mut dyn FnMut(usize, usize),
    ) -> Result<(), Interrupted> {
        let reference = CostTable::load(&Choice::Reference).expect("the table that ships can be read");
        let mut jobs: Vec<Job<'_>> = Vec::new();
        for (item, body) in bodies {
            let missing = |codec: &&CodecSpec| self.get(*item, **codec).is_none_or(|size| size.estimated);
            for codec in codecs.iter().filter(missing) {
                jobs.push(Job::new(*item, body, *codec, &reference));
            }
        }
        if let Extent::Within(limit) = extent {
            shorten(
                &mut jobs,
                limit * u32::try_from(workers.threads.get()).unwrap_or(u32::MAX),
            );
        }
        // The longest first, so that no thread is left with one at the end.
        jobs.sort_by_key(|job| (std::cmp::Reverse(job.expected), job.item, job.codec));
        let milliseconds = |time: Duration| time.as_millis() as usize;
        let total = milliseconds(jobs.iter().map(|job| job.expected).sum());
        let (mut done, mut sizes) = (Duration::ZERO, vec![None; jobs.len()]);
        let Ok(()) = workers.for_each(&jobs, Job::run, &mut |index, size| {
            sizes[index] = Some(size);
            done += jobs[index].expected;
            on_done(milliseconds(done), total);
            Ok::<_, Infallible>(())
        });
        let sizes: Vec<Size> = sizes.into_iter().collect::<Option<_>>().ok_or(Interrupted)?;
        self.0
            .extend(jobs.iter().zip(sizes).map(|(job, size)| ((job.item, job.codec), size)));
        Ok(())
    }
}

/// Limits the CPU time of `jobs` to `limit`, if they take longer: each setting has an equal share of it.
fn shorten(jobs: &mut [Job<'_>], limit: Duration) {
    let mut whole: BTreeMap<CodecSpec, Duration> = BTreeMap::new();
    for job in jobs.iter() {
        *whole.entry(job.codec).or_default() += job.expected;
    }
    if whole.values().sum::<Duration>() <= limit {
        return;
    }
    let share_of_limit = limit.as_secs_f64() / whole.len() as f64;
    for job in jobs {
        job.shorten(share_of_limit / whole[&job.codec].as_secs_f64());
    }
}

struct Job<'a> {
    item: usize,
    codec: CodecSpec,
    body: &'a [u8],
    /// How much of it is compressed, in bytes.
    beginning: usize,
    expected: Duration,
}

impl<'a> Job<'a> {
    /// Compresses all of a body.
    fn new(item: usize, body: &'a [u8], codec: CodecSpec, costs: &CostTable) -> Self {
        // Equal seeds, and so equal ranks: only the size matters.
        let mut rng = Seed::new(0).rng();
        let expected = costs.draw(&mut rng, Operation::Encode(codec), ByteCount::from(body.len()));
        Self {
            item,
            codec,
            body,
            beginning: body.len(),
            expected,
        }
    }

    /// Compresses only a share of the body.
    fn shorten(&mut self, share: f64) {
        let length = self.body.len();
        self.beginning = ((length as f64 * share.min(1.0)) as usize)
            .max(BEGINNING_MIN)
            .min(length);
        self.expected = self.expected.mul_f64(self.beginning as f64 / length.max(1) as f64);
    }

    fn run(&self) -> Size {
        let coded = encoded_size(self.codec, [&self.body[..self.beginning]]);
        if self.beginning == self.body.len() {
            return Size {
                bytes: coded,
                estimated: false,
            };
        }
        let scaled = u128::from(coded.get()) * self.body.len() as u128 / self.beginning.max(1) as u128;
        Size {
            bytes: ByteCount::new(scaled as u64),
            estimated: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lastmile_page::testing::text;
    use std::num::NonZeroUsize;
    use std::sync::atomic::AtomicBool;

    const BODY: usize = 3_000_000;

    /// The sizes of one text under a slow and a fast setting.
    fn sizes(extents: &[Extent]) -> (Sizes, [CodecSpec; 2]) {
        let body = text(BODY);
        let interrupt = AtomicBool::new(false);
        let workers = Workers {
            threads: NonZeroUsize::MIN,
            interrupt: &interrupt,
        };
        let codecs = ["br:10".parse().unwrap(), "zstd:1".parse().unwrap()];
        let mut sizes = Sizes::default();
        for extent in extents {
            sizes
                .measure(&[(0, &body)], &codecs, *extent, &workers, &mut |_, _| {})
                .unwrap();
        }
        (sizes, codecs)
    }

    fn exact(codec: CodecSpec) -> Size {
        Size {
            bytes: encoded_size(codec, [&text(BODY)[..]]),
            estimated: false,
        }
    }

    #[test]
    fn within_its_time_every_body_is_compressed_whole() {
        let (sizes, codecs) = sizes(&[Extent::Within(EXACT_WITHIN)]);
        for codec in codecs {
            assert_eq!(sizes.get(0, codec), Some(exact(codec)), "{codec}");
        }
    }

    #[test]
    fn beyond_its_time_a_slow_setting_is_estimated_and_a_fast_one_is_exact() {
        let (sizes, [slow, fast]) = sizes(&[Extent::Within(Duration::from_millis(500))]);
        assert_eq!(sizes.get(0, fast), Some(exact(fast)));
        let estimate = sizes.get(0, slow).unwrap();
        assert!(estimate.estimated);
        // The text is homogeneous, apart from what a compressor learns on the way: within a fifth.
        let exact = exact(slow).bytes.as_f64();
        assert!(
            (estimate.bytes.as_f64() / exact - 1.0).abs() < 0.2,
            "{} for {exact} B",
            estimate.bytes
        );
        assert_eq!(sizes.exact_sizes(0).map(|(codec, _)| codec).collect::<Vec<_>>(), [fast]);
    }

    #[test]
    fn an_estimate_is_replaced_by_the_exact_size() {
        let (sizes, [slow, _]) = sizes(&[Extent::Within(Duration::from_millis(500)), Extent::Whole]);
        assert_eq!(sizes.get(0, slow), Some(exact(slow)));
    }
}
