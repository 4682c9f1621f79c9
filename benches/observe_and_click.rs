//! Observe and click against the same calls made raw on the wire.

fn main() {}
