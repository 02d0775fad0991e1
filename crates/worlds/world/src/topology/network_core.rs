//! The core of a network, which both worlds share: media, the routes over them, and the captures at hosts and of packets that
//! media drop.
//!
//! A world gives the core a packet with its sender and its destination; the core offers it to the medium that leads to the next host. It
//! returns the packets that arrive, with the host that each has reached. The world decides what that host does with the packet, and
//! when media are polled.

use super::id::{LinkId, MediumId, RadioId};
use super::routes::{Edge, Routes, radio_edges, wire_edges};
use crate::air_capture::AirFormat;
use crate::observer::{Observer, Sampling};
use crate::pcapng_writer::{Capture, dropped_comment};
use lastmile_link::radio::{Position, Radio, RadioCounters, RadioSpec};
use lastmile_link::{Counters, DirectionSpec, Event, Frame, Link, Medium, Station};
use lastmile_units::{ByteCount, Instant, Seed};
use std::io::{self, Write};
use std::time::Duration;

/// The packets that the media of a world carry.
pub(crate) trait Payload: Clone + Send + 'static {
    /// Its size in IP bytes, headers included.
    fn size(&self) -> ByteCount;

    /// Appends its bytes, from the IP header on.
    fn append_to(&self, bytes: &mut Vec<u8>);
}

/// The media of a world that carry `P`, and its captures. Hosts have numbers from 0 on.
pub(crate) struct NetworkCore<P> {
    seed: Seed,
    hosts: Vec<HostState>,
    media: Vec<MediumState<P>>,
    edges: Vec<Edge>,
    routes: Routes,
    /// The captures; none after an error of writing one.
    captures: Vec<Option<Capture>>,
    capture_error: Option<io::Error>,
    /// The bytes of a captured packet; a buffer for reuse.
    captured: Vec<u8>,
    sampling: Option<Sampling>,
}

struct HostState {
    is_router: bool,
    tap: Option<CaptureIndex>,
}

struct MediumState<P> {
    model: MediumModel<P>,
    drops: Option<CaptureIndex>,
    /// The capture of a radio's frames on the air.
    air: Option<(CaptureIndex, AirFormat)>,
}

/// The model of a medium.
enum MediumModel<P> {
    Link(Box<Link<P>>),
    Radio(Box<Radio<P>>),
}

impl<P> MediumModel<P> {
    fn medium(&self) -> &dyn Medium<P> {
        match self {
            Self::Link(link) => link.as_ref(),
            Self::Radio(radio) => radio.as_ref(),
        }
    }

    fn medium_mut(&mut self) -> &mut dyn Medium<P> {
        match self {
            Self::Link(link) => link.as_mut(),
            Self::Radio(radio) => radio.as_mut(),
        }
    }
}

#[derive(Clone, Copy)]
struct CaptureIndex(usize);

/// The outcome of sending a packet.
pub(crate) enum SendOutcome<P> {
    /// A medium has accepted it.
    Carried(MediumId),
    /// The medium's queue was full.
    Dropped(MediumId, P),
    /// No path leads to its destination.
    Unroutable(P),
}

impl<P: Payload> NetworkCore<P> {
    /// A network without hosts. All randomness comes from `seed`.
    pub(crate) fn new(seed: Seed) -> Self {
        Self {
            seed,
            hosts: Vec::new(),
            media: Vec::new(),
            edges: Vec::new(),
            routes: Routes::default(),
            captures: Vec::new(),
            capture_error: None,
            captured: Vec::new(),
            sampling: None,
        }
    }

    /// Adds a host; a router forwards packets.
    pub(crate) fn add_host(&mut self, is_router: bool) -> usize {
        self.hosts.push(HostState { is_router, tap: None });
        self.hosts.len() - 1
    }

    /// The number of hosts.
    pub(crate) fn hosts(&self) -> usize {
        self.hosts.len()
    }

    /// The number of media.
    pub(crate) fn media(&self) -> usize {
        self.media.len()
    }

    /// Joins each host of `near` with each host of `far` by one wire: `down` is towards `near`, `up` towards `far`. In two worlds
    /// of one seed, wires that are added in the same order lose the same frames.
    pub(crate) fn add_link(&mut self, [down, up]: [&DirectionSpec; 2], near: &[usize], far: &[usize]) -> LinkId {
        let seed = self.seed.derive("link").derive_index(self.media.len() as u64);
        let link = LinkId {
            down: self.add_medium(MediumModel::Link(Box::new(Link::new(down, seed.derive("down"))))),
            up: self.add_medium(MediumModel::Link(Box::new(Link::new(up, seed.derive("up"))))),
        };
        self.add_edges(wire_edges(link, near, far));
        link
    }

    /// Joins `stations` with each other by one radio. Radios of two worlds behave as links do.
    pub(crate) fn add_radio(&mut self, spec: &RadioSpec, stations: &[(usize, Position)]) -> RadioId {
        let seed = self.seed.derive("radio").derive_index(self.media.len() as u64);
        let placed: Vec<_> = stations.iter().map(|(host, at)| (Station(*host as u16), *at)).collect();
        let radio = self.add_medium(MediumModel::Radio(Box::new(Radio::new(spec, &placed, seed))));
        let hosts: Vec<usize> = stations.iter().map(|(host, _)| *host).collect();
        self.add_edges(radio_edges(radio, &hosts));
        RadioId(radio)
    }

    fn add_edges(&mut self, edges: Vec<Edge>) {
        self.edges.extend(edges);
        let is_router: Vec<bool> = self.hosts.iter().map(|host| host.is_router).collect();
        self.routes = Routes::find(&is_router, &self.edges);
    }

    fn add_medium(&mut self, model: MediumModel<P>) -> MediumId {
        self.media.push(MediumState {
            model,
            drops: None,
            air: None,
        });
        MediumId(self.media.len() - 1)
    }

    /// Whether a path leads from one host to another.
    pub(crate) fn reaches(&self, from: usize, to: usize) -> bool {
        self.routes.next_hop(from, to).is_some()
    }

    /// The counters of a medium.
    pub(crate) fn counters(&self, medium: MediumId) -> Counters {
        self.media[medium.0].model.medium().counters()
    }

    /// The counters of a radio and its stations at `now`.
    pub(crate) fn radio_counters(&mut self, radio: RadioId, now: Instant) -> RadioCounters {
        match &mut self.media[radio.0.0].model {
            MediumModel::Radio(radio) => {
                radio.catch_up(now);
                radio.radio_counters()
            }
            MediumModel::Link(_) => unreachable!("only a radio has a RadioId"),
        }
    }

    /// Tells `observer` what the media do, in intervals of at least `period`. It takes the place of an earlier one.
    pub(crate) fn observe(&mut self, observer: Box<dyn Observer>, period: Duration) {
        self.sampling = Some(Sampling::new(observer, period));
    }

    /// Tells an observer what the media did, where there is one and its interval is over.
    #[inline]
    fn sample(&mut self, now: Instant) {
        let Some(sampling) = self.sampling.as_mut().filter(|sampling| sampling.is_due(now)) else {
            return;
        };
        let media = self.media.iter().map(|state| {
            let medium = state.model.medium();
            (medium.counters(), medium.queue_length())
        });
        sampling.tell(now, media);
    }

    /// The longest queue of a medium so far, in packets.
    pub(crate) fn longest_queue(&self, medium: MediumId) -> u64 {
        self.media[medium.0].model.medium().longest_queue()
    }

    /// The time at which a medium has to be polled next.
    pub(crate) fn next_at(&self, medium: MediumId) -> Option<Instant> {
        self.media[medium.0].model.medium().next_at()
    }

    /// Sends a packet from one host, which is its source or forwards it, towards another.
    pub(crate) fn send(&mut self, from: usize, to: usize, packet: P, now: Instant) -> SendOutcome<P> {
        self.sample(now);
        let Some(hop) = self.routes.next_hop(from, to) else {
            self.tap(from, now, &packet, Some("dropped: no route to the destination"));
            return SendOutcome::Unroutable(packet);
        };
        let tapped = self.hosts[from].tap.is_some().then(|| packet.clone());
        let frame = Frame {
            from: Station(from as u16),
            to: Station(hop.to as u16),
            size: packet.size(),
            payload: packet,
        };
        let state = &mut self.media[hop.medium.0];
        let rejected = state.model.medium_mut().offer(now, frame).err();
        let drops = state.drops;
        self.write_air(hop.medium);
        let comment = rejected.as_ref().map(|rejected| dropped_comment(rejected.cause));
        if let Some(packet) = tapped {
            self.tap(from, now, &packet, comment.as_deref());
        }
        match rejected {
            Some(rejected) => {
                self.write(drops, now, &rejected.frame.payload, comment.as_deref());
                SendOutcome::Dropped(hop.medium, rejected.frame.payload)
            }
            None => SendOutcome::Carried(hop.medium),
        }
    }

    /// Appends the events of a medium up to `now` to `events`, in the order of time. It captures dropped packets; [`NetworkCore::tap`]
    /// captures a packet that has arrived, when its host receives it.
    pub(crate) fn poll(&mut self, medium: MediumId, now: Instant, events: &mut Vec<Event<P>>) {
        self.sample(now);
        let state = &mut self.media[medium.0];
        let known = events.len();
        state.model.medium_mut().poll(now, &mut |event| events.push(event));
        let drops = state.drops;
        self.write_air(medium);
        let Some(drops) = drops else { return };
        for event in &events[known..] {
            if let Event::Dropped { at, frame, cause } = event {
                self.write(Some(drops), *at, &frame.payload, Some(&dropped_comment(*cause)));
            }
        }
    }

    /// Captures the packets that `host` sends and receives from now on.
    ///
    /// # Errors
    /// Those of writing the head of the capture.
    pub(crate) fn capture(&mut self, host: usize, to: Box<dyn Write + Send>) -> io::Result<()> {
        self.hosts[host].tap = Some(self.add_capture(Capture::new(to)?));
        Ok(())
    }

    /// Captures the packets that any of `media` drops from now on.
    ///
    /// # Errors
    /// As [`NetworkCore::capture`].
    pub(crate) fn capture_drops(&mut self, media: &[MediumId], to: Box<dyn Write + Send>) -> io::Result<()> {
        let drops = self.add_capture(Capture::new(to)?);
        for medium in media {
            self.media[medium.0].drops = Some(drops);
        }
        Ok(())
    }

    /// Captures every frame on the air of `radio` from now on, as a monitor next to its stations would.
    ///
    /// # Errors
    /// As [`NetworkCore::capture`].
    pub(crate) fn capture_air(&mut self, radio: RadioId, to: Box<dyn Write + Send>) -> io::Result<()> {
        let air = self.add_capture(AirFormat::begin(to)?);
        let state = &mut self.media[radio.0.0];
        if let MediumModel::Radio(radio) = &mut state.model {
            radio.record_air();
            state.air = Some((air, AirFormat::new(radio.spec())));
        }
        Ok(())
    }

    /// Writes the frames that have been on the air since the last call.
    fn write_air(&mut self, medium: MediumId) {
        let state = &mut self.media[medium.0];
        let (Some((index, format)), MediumModel::Radio(radio)) = (&mut state.air, &mut state.model) else {
            return;
        };
        let capture = &mut self.captures[index.0];
        for frame in radio.take_air_frames() {
            let written = capture.as_mut().map_or(Ok(()), |capture| {
                format.write(&frame, |packet: &P, bytes| packet.append_to(bytes), capture)
            });
            if let Err(error) = written {
                *capture = None;
                self.capture_error.get_or_insert(error);
            }
        }
    }

    fn add_capture(&mut self, capture: Capture) -> CaptureIndex {
        self.captures.push(Some(capture));
        CaptureIndex(self.captures.len() - 1)
    }

    /// Captures a packet that passes `host`, if it has a capture.
    pub(crate) fn tap(&mut self, host: usize, at: Instant, packet: &P, comment: Option<&str>) {
        self.write(self.hosts[host].tap, at, packet, comment);
    }

    /// Writes a packet to a capture; an error ends the capture.
    fn write(&mut self, capture: Option<CaptureIndex>, at: Instant, packet: &P, comment: Option<&str>) {
        let Some(capture) = capture.map(|index| &mut self.captures[index.0]) else {
            return;
        };
        let written = capture.as_mut().map_or(Ok(()), |capture| {
            self.captured.clear();
            packet.append_to(&mut self.captured);
            capture.packet(at, &self.captured, comment)
        });
        if let Err(error) = written {
            *capture = None;
            self.capture_error.get_or_insert(error);
        }
    }

    /// Writes what has been on the air up to `now`: nobody polls a radio whose queues are empty, while beacons go on.
    fn catch_up_air(&mut self, now: Instant) {
        for medium in 0..self.media.len() {
            let state = &mut self.media[medium];
            if let (Some(_), MediumModel::Radio(radio)) = (&state.air, &mut state.model) {
                radio.catch_up(now);
                self.write_air(MediumId(medium));
            }
        }
    }

    /// The first error of writing a capture up to `now`; it is reported once.
    pub(crate) fn take_capture_error(&mut self, now: Instant) -> Option<io::Error> {
        self.catch_up_air(now);
        self.capture_error.take()
    }

    /// Flushes and ends every capture at `now`.
    ///
    /// # Errors
    /// The first error of writing any of them.
    pub(crate) fn end_captures(&mut self, now: Instant) -> io::Result<()> {
        self.catch_up_air(now);
        for capture in &mut self.captures {
            if let Some(Err(error)) = capture.take().map(|mut capture| capture.flush()) {
                self.capture_error.get_or_insert(error);
            }
        }
        self.capture_error.take().map_or(Ok(()), Err)
    }
}
