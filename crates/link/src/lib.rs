//! The link model: what happens to a frame, and when.
//!
//! Sans-IO: a [`Medium`] is given frames and times and says what happens when. It opens no socket and reads no clock;
//! whoever drives it does, if anyone does. [`Link`] is one direction of a wire, made from a [`DirectionSpec`]. A
//! [`LinkSpec`] is both directions under a name: a [`Profile`] with its source, a formula such as `wpt/3g+loss=1%`, or
//! a table in a file.

mod chance;
mod codel;
mod delay;
mod describe;
mod direction;
mod error;
mod event;
mod frame;
mod link;
mod loss;
mod medium;
mod nearest;
mod notation;
mod profile;
mod queue;
mod request;
mod setting;
mod spec;
mod table;
mod trace;
mod transmitter;
mod wire;

pub use delay::{Jitter, Reordering};
pub use describe::{Difference, Row, describe, diff};
pub use direction::{Capacity, CoDel, DirectionSpec, Queue};
pub use error::LinkError;
pub use event::{DropCause, Event};
pub use frame::{Frame, Station};
pub use link::{Counters, Link};
pub use loss::{GilbertElliott, Loss};
pub use medium::{Medium, Rejected};
pub use notation::ParsePartError;
pub use profile::{Certainty, Profile, all_profiles};
pub use request::{LinkRequest, parse_list, resolve};
pub use setting::TraceReader;
pub use spec::LinkSpec;
pub use trace::{DeliveryTrace, OPPORTUNITY};
