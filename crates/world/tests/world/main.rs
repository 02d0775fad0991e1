//! Does the simulated world behave? Claims about whole worlds, by idea; those about the TCP alone stand beside it.

mod bulk;
mod support;
