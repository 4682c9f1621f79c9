//! The operator's browser: where it listens, and whether it is really theirs.

/// Which directory is somebody's alone.
pub mod directory;
/// Where the operator's browser listens, and who else does (security D1, D4).
pub mod endpoint;
/// The flags that take a browser's protection away (security D3).
pub mod flags;
/// What listens on the port is the operator's own browser (security D2).
pub mod owner;
/// What the browser writes into its profile directory when it opens its port.
mod port_file;
/// What the kernel says about sockets and processes.
pub mod proc;
/// Which programs are browsers we know, and how each is started.
pub mod program;
/// Why a browser was refused, in constants.
pub mod reason;
/// What the live browser says about itself; compared, never followed.
mod version;
