//! The link model: what happens to a frame, and when
