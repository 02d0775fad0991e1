//! `lastmile monitor`: keeps events.

use super::{allow_address, read_token};
use crate::cli::monitor::MonitorArgs;
use crate::exit::Exit;
use crate::{interrupt, output};
use anyhow::{Context as _, bail};
use lastmile_events::uplink::Durability;
use lastmile_monitor::client::Client;
use lastmile_monitor::log::{Log, LogSettings, Retention, StoreUrl};
use lastmile_monitor::service::Monitor;
use lastmile_monitor::{block_on, server};
use lastmile_units::ByteCount;
use std::net::TcpListener;
use std::sync::Arc;

/// Keeps events until it is interrupted.
///
/// # Errors
/// When the folder or the address cannot be used, or a token is missing.
pub(crate) fn monitor(args: &MonitorArgs) -> anyhow::Result<Exit> {
    let token = read_token(&args.token)?;
    allow_address("--listen", &args.listen, token.as_deref())?;
    let settings = LogSettings {
        durability: args.durability,
        most_bytes: args.most.get(),
        retention: Retention {
            age: args.keep,
            bytes: args.keep_bytes.map(ByteCount::get),
        },
        reserves_room: true,
        ..LogSettings::default()
    };
    let log = match &args.store {
        None => Log::open(&args.folder, settings)?,
        Some(store) => {
            check_store(store, args)?;
            Log::open_store(&args.folder, store, settings)?
        }
    };
    let listener = TcpListener::bind(args.listen).with_context(|| format!("--listen {}", args.listen))?;
    let stop = interrupt::install_handler("stopping", "stopped at once".to_owned())?;
    output::note(&format!("the monitor listens at http://{}", listener.local_addr()?));
    let monitor = Arc::new(Monitor::new(Arc::new(log), token));
    block_on(server::serve(monitor, listener, &stop))??;
    Ok(Exit::Done)
}

/// A server in its default settings syncs every two minutes, so only one that says that it syncs always is trusted with power failures.
fn check_store(store: &StoreUrl, args: &MonitorArgs) -> anyhow::Result<()> {
    if args.durability != Durability::Power {
        return Ok(());
    }
    let Some(status) = &args.store_status else {
        bail!(
            "--store {store}: whether its files survive a power failure is up to the server; give its monitoring address with \
             --store-status, or --durability process"
        );
    };
    let mut client = Client::new(status.clone(), None);
    let variables = block_on(client.get("/varz"))?
        .context("--store-status: the monitoring address of the NATS server (http: in its settings)")?;
    let variables: serde_json::Value = serde_json::from_slice(&variables).unwrap_or_default();
    if variables["jetstream"]["config"]["sync_always"] != true {
        bail!(
            "--store {store}: the server syncs its files from time to time, so a power failure may cost acknowledged events; set \
             sync_interval: always in its section jetstream, or give --durability process"
        );
    }
    Ok(())
}
