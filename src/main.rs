//! The binary: dispatch, nothing else.

fn main() {}
