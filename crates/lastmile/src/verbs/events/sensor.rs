//! `lastmile sensor`: takes events of this host.

use super::{new_source, read_token};
use crate::cli::monitor::SensorArgs;
use crate::exit::Exit;
use crate::{interrupt, output};
use anyhow::{Context as _, bail};
use lastmile_events::uplink::SensorAddress;
use lastmile_monitor::block_on;
use lastmile_monitor::client::Client;
use lastmile_monitor::log::LogSettings;
use lastmile_monitor::sensor::{self, ByteBudget, Forwarding, SensorSettings, Spool};
use std::net::TcpListener;

/// Takes events of this host until it is interrupted.
///
/// # Errors
/// When the folder or the socket cannot be used.
pub(crate) fn sensor(args: &SensorArgs) -> anyhow::Result<Exit> {
    let token = read_token(&args.token)?;
    let settings = LogSettings {
        durability: args.durability,
        most_bytes: args.most.get(),
        reserves_room: true,
        ..LogSettings::default()
    };
    let otlp = match args.otlp {
        None => None,
        Some(address) => {
            if !address.ip().is_loopback() {
                bail!(
                    "--otlp {address}: a sensor serves the programs of its own host; choose a port of 127.0.0.1 or [::1]"
                );
            }
            let listener = TcpListener::bind(address).with_context(|| format!("--otlp {address}"))?;
            Some((listener, new_source(&format!("{}-otlp", args.name))?))
        }
    };
    let otlp_address = otlp.as_ref().map(|(listener, _)| listener.local_addr()).transpose()?;
    let spool = block_on(Spool::open(&args.folder, settings, output::note))??;
    let settings = SensorSettings {
        address: SensorAddress::Path(args.socket.clone()),
        line_source: new_source(&args.name)?,
        otlp,
        forwarding: Forwarding {
            durability: args.durability,
            budget: args.budget.map(|rate| ByteBudget {
                rate,
                delay: args.budget_delay,
            }),
            name: args.name.clone(),
            note: output::note,
        },
    };
    let stop = interrupt::install_handler("stopping", "stopped at once".to_owned())?;
    if let Some(address) = otlp_address {
        output::note(&format!("OpenTelemetry's SDKs find it at http://{address}"));
    }
    let monitor = Client::new(args.monitor.clone(), token);
    block_on(sensor::run(spool, monitor, settings, &stop))?
        .with_context(|| format!("--socket {}", args.socket.display()))?;
    Ok(Exit::Done)
}
