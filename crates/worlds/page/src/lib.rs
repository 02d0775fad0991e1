//! Loads web pages: the resources of a page with what leads to each, a simulated browser and a real one, and the page's servers.
//!
//! | step | file |
//! | --- | --- |
//! | what documents, style sheets and modules name | `discovery` |
//! | what each request waits for | `dependencies` |
//! | the responses to replay, and their hosts | `page`, `page_host` |
//! | how they are loaded | `load_options` |
//! | the script of each response in one replay | `scripted_response` |
//! | one replay, in virtual time | `replay`, of `origin_server` and `browser` (`prerequisite_tracker`, `request_scheduler`) |
//! | the times of its requests | `request_timing` |
//! | one load in Chromium, in real time | `chromium`, of `playback` |

mod browser;
#[cfg(target_os = "linux")]
pub mod chromium;
pub mod dependencies;
mod discovery;
pub mod load_options;
mod origin_server;
pub mod page;
mod page_host;
pub mod playback;
mod prerequisite_tracker;
pub mod replay;
mod request_scheduler;
pub mod request_timing;
pub mod scripted_response;
#[doc(hidden)]
pub mod testing;

pub use browser::connections_per_host;
pub use load_options::{LoadOptions, ServerSpec};
pub use origin_server::PIECE;
pub use page::Page;
pub use page_host::{PageHost, ServedHost};
