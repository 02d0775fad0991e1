//! The link model: what happens to a frame, and when.
//!
//! Sans-IO: a [`Medium`] is given frames and times and says what happens when. It opens no socket and reads no clock; whoever drives it does, if
//! anyone does. [`Link`] is one direction of a wire, made from a [`DirectionSpec`].

mod chance;
mod codel;
mod delay;
mod direction;
mod error;
mod event;
mod frame;
mod link;
mod loss;
mod medium;
mod queue;
mod trace;
mod transmitter;
mod wire;

pub use delay::{Jitter, Reordering};
pub use direction::{Capacity, CoDel, DirectionSpec, Queue};
pub use error::LinkError;
pub use event::{DropCause, Event};
pub use frame::{Frame, Station};
pub use link::{Counters, Link};
pub use loss::{GilbertElliott, Loss};
pub use medium::{Medium, Rejected};
pub use trace::{DeliveryTrace, OPPORTUNITY};
