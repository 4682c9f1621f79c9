//! The server as a client meets it, in good order and in every kind of trouble.

mod caps;
mod journeys;
mod killed;
mod refused;
pub(crate) mod scene;
mod stdout;
