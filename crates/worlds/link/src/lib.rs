//! The link model: what happens to a frame, and when.
//!
//! Sans-IO: a [`Medium`] accepts frames and times, and reports what happens when. It opens no socket and reads no
//! clock; its driver does, if anything does. [`Link`] is one direction of a wire, made from a [`DirectionSpec`]. A
//! [`LinkSpec`] is both directions under a name: a [`Profile`] with its source, a formula such as `wpt/3g+loss=1%`, or
//! a table in a file. [`radio::Radio`] is a medium that any number of stations share.

mod bernoulli;
mod codel;
mod delay;
mod direction;
mod error;
mod event;
mod formula;
mod frame;
mod in_flight;
mod link;
mod loss;
mod medium;
mod notation;
mod parameters;
mod profile;
mod queue;
pub mod radio;
mod spec;
mod summary;
mod toml_table;
mod trace;
mod transmitter;

pub use delay::{Jitter, Reordering};
pub use direction::{Capacity, CoDel, DirectionSpec, Queue};
pub use error::LinkError;
pub use event::{DropCause, Event};
pub use formula::{LinkRequest, parse_list, resolve};
pub use frame::{Frame, Station};
pub use link::{Counters, Link};
pub use loss::{GilbertElliott, Loss};
pub use medium::{Medium, Rejected};
pub use notation::ParsePartError;
pub use parameters::TraceReader;
pub use profile::{Certainty, Profile, all_profiles};
pub use spec::LinkSpec;
pub use summary::{Difference, Row, describe, diff, in_words};
pub use trace::{DeliveryTrace, OPPORTUNITY};
