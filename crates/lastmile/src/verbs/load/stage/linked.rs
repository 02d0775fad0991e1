//! The generator behind an emulated link: its threads and sockets are on the near host, and the gateway at the far one relays its
//! connections to the server.

use super::capture::CaptureFile;
use super::{StageRun, run_captured};
use anyhow::Context as _;
use lastmile_link::LinkSpec;
use lastmile_load::epoll::Generator;
use lastmile_load::link_use::link_use;
use lastmile_load::plan::Plan;
use lastmile_units::Seed;
use lastmile_world::emu::{EmuHost, Gateway, GatewayReach, HostSpec, World};
use lastmile_world::{Host as _, LinkId, World as _};
use std::net::SocketAddr;
use std::panic::resume_unwind;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Instant;

/// A link with the generator at its near end.
pub(in crate::verbs::load) struct LinkedGenerator {
    world: World,
    link: LinkSpec,
    id: LinkId,
    near: EmuHost,
    generator: Generator,
    capture: Option<CaptureFile>,
    /// It relays for as long as it lives.
    _gateway: Gateway,
}

impl LinkedGenerator {
    /// The generator's server is on this machine's loopback address.
    pub(super) fn new(
        link: &LinkSpec,
        generator: Generator,
        capture: Option<CaptureFile>,
        seed: Seed,
    ) -> anyhow::Result<Self> {
        // Start the gateway before the world: its thread must stay in the original network namespace.
        let gateway = Gateway::start().context("the link's gateway cannot be started")?;
        let world = World::new(seed.derive("world"))?;
        let (near, far) = (world.host(HostSpec::default())?, world.host(HostSpec::default())?);
        let id = world.link(&link.down, &link.up, &[&near], &[&far]);
        gateway.serve(&world, &near, &far, GatewayReach::Loopback)?;
        let server = SocketAddr::V4(far.address(generator.server.port()));
        Ok(Self {
            world,
            link: link.clone(),
            id,
            near,
            generator: Generator { server, ..generator },
            capture,
            _gateway: gateway,
        })
    }

    pub(super) fn run(&self, plan: &Plan, seed: Seed) -> anyhow::Result<StageRun> {
        let before = self.world.disturbance();
        let counters = self.world.link_counters(self.id);
        let begin = Instant::now();
        let (end, ended) = channel::<()>();
        let (ran, used) = thread::scope(|scope| {
            let (namespace, generator, capture) = (self.near.namespace(), &self.generator, self.capture.as_ref());
            let running = scope.spawn(move || {
                // The receiver learns of the end when this is gone.
                let _end = end;
                // Its threads are started inside, and so belong to the host.
                namespace.enter(|| run_captured(generator, capture, plan, seed))
            });
            // What the link carries later is not part of what was asked of it while requests were sent.
            let _ = ended.recv_timeout(plan.duration);
            let used = link_use(
                &self.link,
                &counters,
                &self.world.link_counters(self.id),
                begin.elapsed(),
            );
            (running.join(), used)
        });
        let ran = ran.unwrap_or_else(|panic| resume_unwind(panic));
        let mut ran = ran.context("the link's near end cannot be entered")??;
        ran.measured.link = used;
        let verdict = self.world.disturbance().since(&before).verdict();
        Ok(StageRun {
            disturbance: verdict.err().map(|why| why.to_string()),
            ..ran
        })
    }
}
