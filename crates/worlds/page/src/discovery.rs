//! Finds what a page's documents, style sheets and modules name, and where.
//!
//! A browser asks for a resource when it has read the bytes that name it. [`html`] and [`css`] give each name with the offset at which
//! it has been read, [`modules`] those of JavaScript modules, and [`url`] makes them absolute.

pub(crate) mod css;
pub(crate) mod html;
pub(crate) mod modules;
pub(crate) mod url;
