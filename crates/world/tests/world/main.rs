//! Does the simulated world behave? Claims about whole worlds, by idea; those about the TCP alone stand beside it.

mod adversity;
mod bbr;
mod bulk;
mod captures;
mod computing;
mod http;
mod lost_frames;
mod programs;
mod support;
