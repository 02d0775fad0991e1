//! The fuzz targets of links as a user writes them, and of the recorded traces that links follow.

use lastmile_link::{DeliveryTrace, Frame, Link, LinkRequest, LinkSpec, Medium, Station, parse_list};
use lastmile_units::{ByteCount, Instant, Seed};

/// The content of every trace that a fuzzed link names.
const TRACE: &str = "1\n2\n2\n5\n";

#[derive(Debug)]
struct Document(LinkRequest);

impl Document {
    /// The value of `link = …`, where the text is that.
    fn read(text: &str) -> Option<Self> {
        let mut table: toml::Table = toml::from_str(text).ok()?;
        table.remove("link")?.try_into().ok().map(Self)
    }
}

/// A link: as a formula, as a list of formulas, and as `link = …` in TOML. A link that can be read prints as a formula of the same meaning.
pub fn link(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let listed = parse_list(text).unwrap_or_default();
    for request in listed
        .into_iter()
        .chain(Document::read(text).map(|document| document.0))
    {
        let Ok(spec) = resolved(&request) else {
            continue;
        };
        let printed = spec.to_string();
        let again = LinkRequest::parse(&printed).and_then(|request| resolved(&request));
        assert_eq!(again.as_ref(), Ok(&spec), "{printed}");
        for direction in [&spec.down, &spec.up] {
            carry(Link::new(direction, Seed::new(1)));
        }
    }
}

fn resolved(request: &LinkRequest) -> Result<LinkSpec, lastmile_link::LinkError> {
    request.resolve_with(&mut |_| Ok(TRACE.to_owned()))
}

/// A delivery trace. A link that follows it carries every frame to the end.
pub fn trace(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let Ok(trace) = DeliveryTrace::parse("input", text) else {
        return;
    };
    assert!(trace.opportunities() >= 1 && trace.rate_mean().bits_per_second() >= 1);
    let request =
        LinkRequest::parse("mine+trace=input+one_way_delay=1ms").expect("it is written as the documentation says");
    let spec = request
        .resolve_with(&mut |_| Ok(text.to_owned()))
        .expect("a trace that is read alone is read for a link");
    carry(Link::new(&spec.down, Seed::new(1)));
}

/// Sizes of frames for a link, from the smallest to one that no Ethernet carries.
const FRAMES: [u64; 4] = [1, 60, 1500, 9000];

/// Offers frames to a link until each has been delivered or dropped.
fn carry(mut link: Link<usize>) {
    for (payload, size) in FRAMES.into_iter().enumerate() {
        let frame = Frame {
            from: Station(0),
            to: Station(1),
            size: ByteCount::new(size),
            payload,
        };
        let _ = link.offer(Instant::START, frame);
    }
    let mut delivered = 0;
    let mut before = Instant::START;
    while let Some(at) = link.next_at() {
        assert!(at >= before, "time runs backwards");
        before = at;
        link.poll(at, &mut |_| delivered += 1);
    }
    let counters = link.counters();
    assert_eq!(counters.in_flight, 0);
    assert_eq!(counters.offered, counters.delivered + counters.dropped());
    assert!(delivered <= FRAMES.len());
}
