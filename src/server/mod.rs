//! MCP over standard input and output: the tools, their arguments, and the transport that keeps standard output clean.

pub mod arguments;
mod handler;
pub mod stdio;
pub mod tools;

pub use handler::{Handler, tool_names};
