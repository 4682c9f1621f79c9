//! The demo: a bundled bank-and-shop site, and the walk through it.

mod bank;
mod goods;
mod pages;
mod shop;
pub mod site;
mod state;
