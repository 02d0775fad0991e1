//! `lastmile route`: runs a router of one-way calls until it is told to stop, and accounts for them.

use crate::cli::route::{Compress, RouteArgs};
use crate::exit::Exit;
use crate::{interrupt, output};
use anyhow::Context as _;
use lastmile_rpc::batch::BatchLimits;
use lastmile_rpc::ice::CompressionPolicy;
use lastmile_rpc::router::server::Server;
use lastmile_rpc::router::{AllowList, Settings};
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

/// Runs the router.
///
/// # Errors
/// When the rules cannot be read, or an address cannot be listened on.
pub(crate) fn route(args: &RouteArgs) -> anyhow::Result<Exit> {
    let file = args.allow.display();
    let rules = fs::read_to_string(&args.allow)
        .with_context(|| format!("{file} cannot be read; it has the rules of who may call what"))?;
    let allowed = AllowList::parse(&rules).with_context(|| format!("{file} has a line that is no rule"))?;
    let settings = Settings {
        allowed,
        batch: BatchLimits {
            calls: args.batch,
            bytes: None,
            delay: Some(args.batch_time),
        },
        queue: args.queue,
    };
    let compression = match args.compress {
        Compress::IfSmaller => Some((1, CompressionPolicy::IfSmaller)),
        Compress::Ice => Some((1, CompressionPolicy::AboveThreshold)),
        Compress::Never => None,
    };
    let server = Server::start(settings, compression, listen(args.clients)?, listen(args.back_ends)?)?;
    let asked = interrupt::install_handler("stopping", "stopped at once; calls are not accounted for".to_owned())?;
    output::note(&format!(
        "clients connect to {}, back ends to {}",
        server.clients, server.back_ends
    ));
    while !asked.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(50));
        for remark in server.take_remarks() {
            output::note(&remark);
        }
    }
    let counters = server.counters();
    let account = serde_json::json!({
        "schema": "lastmile/route/1",
        "offered": counters.offered,
        "written": counters.written,
        "forbidden": counters.forbidden,
        "without_session": counters.without_session,
        "queue_full": counters.queue_full,
        "lost": counters.lost + counters.waiting + counters.on_the_way,
    });
    println!("{account}");
    Ok(Exit::Done)
}

fn listen(address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address)
        .with_context(|| format!("{address} cannot be listened on; is another program there? Name another address"))
}
