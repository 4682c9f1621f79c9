//! Hostile pages against the real server and the real browser; effects are counted at the site's own server.

mod clicks;
mod fields;
mod moving;
pub(crate) mod room;
