//! Code that must not compile: a check skipped, a proof used twice, copied or forged. Run by whoever can build.

/// What each of the wrong programs departs from. It compiles with this crate: the wrong ones then need no more than
/// `cargo check`, in a folder of their own.
#[path = "../compile_pass/straight_line.rs"]
#[allow(dead_code, reason = "compiled, not run")]
mod straight_line;

#[test]
fn a_skipped_check_does_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
