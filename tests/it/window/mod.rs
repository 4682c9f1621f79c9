//! Every way a question can end, with the real window and the real dialog on a virtual X server.

mod basic;
mod look;
mod own;
mod process;
mod scene;
