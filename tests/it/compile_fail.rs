//! Code that must not compile: a check skipped, a proof used twice, copied or forged. Run by whoever can build.

#[test]
fn a_skipped_check_does_not_compile() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/compile_pass/*.rs");
    cases.compile_fail("tests/compile_fail/*.rs");
}
