//! The operator's browser is told from every other, with a real Chromium. These tests run as an ordinary user.

mod command;
mod default_profile;
mod flags;
mod found;
mod hardened;
mod peers;
mod preloading;
mod refused;
mod support;
