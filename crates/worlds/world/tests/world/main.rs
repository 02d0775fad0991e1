//! Claims about whole simulated worlds, by subject. Claims about TCP alone stand beside its implementation.

mod adversity;
mod bbr;
mod bulk;
mod captures;
mod computing;
mod http;
mod lost_frames;
mod observer;
mod programs;
mod radio;
mod support;
mod topology;
