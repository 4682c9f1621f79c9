//! A page does not get the browser to load another one ahead of the person (security U7).

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use countersign::cli::browser::{Args, run};
use countersign::cli::exit::Exit;
use countersign::cli::places::{Places, prepare};

use super::support::{EndsWithTest, PATIENCE, Private, chromium};

/// Asks for three pages ahead in three ways, and for `/done` once that had ample time to happen.
const PAGE: &str = r#"<!doctype html><title>t</title>
<link rel="prerender" href="/ahead-link">
<script type="speculationrules">
{"prefetch":[{"source":"list","urls":["/ahead-prefetch"],"eagerness":"immediate"}],
 "prerender":[{"source":"list","urls":["/ahead-prerender"],"eagerness":"immediate"}]}
</script>
<script>setTimeout(() => fetch("/done"), 3000)</script>"#;

/// Serves the page to everyone and tells each path that was asked for.
fn site() -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/page", listener.local_addr().unwrap());
    let (tell, told) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let tell = tell.clone();
            std::thread::spawn(move || {
                let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
                let Some(first) = lines.next() else { return };
                let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
                lines.take_while(|line| !line.is_empty()).for_each(drop);
                let _ = write!(
                    &stream,
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{PAGE}",
                    PAGE.len()
                );
                let _ = tell.send(path);
            });
        }
    });
    (url, told)
}

fn next(told: &Receiver<String>, patience: Duration) -> String {
    told.recv_timeout(patience)
        .expect("the browser asks for something")
}

#[test]
fn an_ordinary_profile_would_load_ahead() {
    let dir = Private::new();
    let (url, told) = site();
    let _running = chromium(dir.path(), &[&url]);
    while !next(&told, PATIENCE).starts_with("/ahead") {}
}

#[tokio::test]
async fn the_profile_that_countersign_starts_does_not() {
    let home = Private::new();
    let places = Places::below(home.path());
    prepare(&places.browser).unwrap();
    let _ends = EndsWithTest(places.browser.clone());
    let mut wanted = home.wanted();
    wanted.profile_dir.clone_from(&places.browser);
    let (url, told) = site();
    let args = Args {
        print: false,
        home: None,
        extra: vec!["--headless=new".into(), url.into()],
    };
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let exit = run(&args, &wanted, &places, &mut out, &mut err)
        .await
        .unwrap();
    let mut asked = Vec::new();
    while asked.last().is_none_or(|path| path != "/done") {
        asked.push(next(&told, PATIENCE));
    }
    assert_eq!(exit, Exit::Ok);
    assert!(
        !asked.iter().any(|path| path.starts_with("/ahead")),
        "{asked:?}"
    );
}
