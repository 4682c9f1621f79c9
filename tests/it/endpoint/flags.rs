//! A browser that was started with a flag that takes its protection away is refused.

use std::path::Path;

use countersign::browser::endpoint::{NoSandbox, find};
use countersign::browser::flags::{TABLE, When};
use countersign::error::Code;

use super::support::{PERL, Private, StandIn, chromium, why};

#[tokio::test]
async fn a_real_browser_with_such_a_flag_is_refused() {
    for flag in [
        "--remote-allow-origins=*",
        "--disable-web-security",
        "--ignore-certificate-errors",
        "--disable-features=Translate,IsolateOrigins,site-per-process",
        "--disable-site-isolation-trials",
    ] {
        let dir = Private::new();
        let _running = chromium(dir.path(), &[flag]);
        let (code, reason) = why(&find(&dir.wanted()).await.unwrap_err());
        assert_eq!(code, Code::UnsafeFlags, "{flag}");
        let name = flag.split('=').next().unwrap();
        assert!(reason.starts_with(&format!("{name}: ")), "{reason}");
    }
}

#[tokio::test]
async fn a_real_browser_without_its_sandbox_is_refused_unless_the_profile_allows_it() {
    let dir = Private::new();
    let _running = chromium(dir.path(), &["--no-sandbox"]);
    let mut wanted = dir.wanted();
    assert_eq!(find(&wanted).await.unwrap_err().code(), Code::UnsafeFlags);
    wanted.no_sandbox = NoSandbox::Allowed;
    drop(find(&wanted).await.unwrap());
}

#[tokio::test]
async fn every_flag_of_the_table_is_seen_through_the_kernel() {
    let dir = Private::new();
    let directory = format!("--user-data-dir={}", dir.path().display());
    for row in TABLE {
        let value = match row.when {
            When::Always | When::Sandbox => "",
            When::WithValue | When::OtherThan(_) => "=*",
            When::NotLoopback => "=0.0.0.0",
            When::Naming(names) => &format!("=A,{}", names[0]),
            When::OutsideSystem => "=/home/x",
        };
        let given = format!("--{}{value}", row.name);
        let standing = StandIn::start(Path::new(PERL), dir.path(), &[&directory, &given], &[]);
        let refusal = find(&standing.wanted(&dir)).await.expect_err(row.name);
        assert_eq!(why(&refusal), (Code::UnsafeFlags, row.why));
    }
}
