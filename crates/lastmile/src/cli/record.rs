//! The arguments of `lastmile record`.

use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Record the traffic of a page in an installed Chromium
///
/// The recording is what `lastmile advise` reads, bodies included. Chromium has a new profile: no cache, no cookies, no extensions. The recording
/// ends when the page is loaded and nothing was requested for two seconds. It is a HAR file. Cookies and credentials in it are replaced by "removed"; bodies, and secrets in URLs, are kept.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile record https://shop.example                  to shop.example.har
  lastmile record http://localhost:8000/ --out home.har
  lastmile record https://shop.example --link wpt/3g    as on a slow link

Without a Chromium: open the page in a browser, F12, Network, reload, and save all as HAR with content.")]
pub(crate) struct RecordArgs {
    /// The page
    #[arg(value_name = "URL")]
    pub(crate) url: String,

    /// The file [default: the host's name, with .har]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,

    /// Load it behind a link, as `lastmile link --allow-net` does; this machine's services are then at host.lastmile:PORT
    #[arg(long, value_name = "LINK")]
    pub(crate) link: Option<String>,

    /// The longest that the page may take
    #[arg(long, value_name = "DURATION", default_value = "120s", value_parser = |text: &str| lastmile_units::duration::parse(text))]
    pub(crate) timeout: Duration,
}
