//! A web site on the loopback interface whose effects are counted where they happen: at the site.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{Request, Response, StatusCode, header};

use super::{PATIENCE, tree};

/// One request as the site saw it.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) method: String,
    /// Host without the port.
    pub(crate) host: String,
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

/// What the site answers.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// A page. `{{port}}` in it becomes the site's port.
    Page(String),
    /// Anything: status, headers, body.
    Raw(u16, Vec<(String, String)>, Vec<u8>),
    /// Nothing, ever: the connection stays open.
    Silence,
}

impl Answer {
    /// A redirect; `{{port}}` in the address becomes the site's port.
    pub(crate) fn redirect(status: u16, to: &str) -> Self {
        Self::Raw(status, vec![("location".to_owned(), to.to_owned())], vec![])
    }
}

type Script = Box<dyn Fn(&Seen) -> Answer + Send + Sync>;

#[derive(Default)]
struct Told {
    effects: HashMap<String, u64>,
    log: Vec<Seen>,
}

#[derive(Default)]
struct Inside {
    port: Mutex<u16>,
    answers: Mutex<HashMap<String, Arc<Script>>>,
    told: Mutex<Told>,
    change: Condvar,
}

/// A running site. It answers for every host name at its port:
/// - a path given with [`Site::page`] or [`Site::answer`], for one host (`bank.test/pay`) or for all (`/pay`);
/// - `/effect/NAME`, by any method: counts one effect and shows a short page;
/// - `/NAME.html`: the file of that name in `tests/pages/`;
/// - 404 otherwise, also logged.
pub(crate) struct Site {
    inside: Arc<Inside>,
    port: u16,
    runtime: Option<tokio::runtime::Runtime>,
}

impl Site {
    /// Starts one at a free port of 127.0.0.1.
    pub(crate) fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let inside = Arc::new(Inside::default());
        let listener = runtime
            .block_on(tokio::net::TcpListener::bind(SocketAddr::from((
                [127, 0, 0, 1],
                0,
            ))))
            .unwrap();
        let port = listener.local_addr().unwrap().port();
        *inside.port.lock().unwrap() = port;
        let app = axum::Router::new()
            .fallback(serve)
            .with_state(Arc::clone(&inside));
        runtime.spawn(async move { axum::serve(listener, app).await });
        Self {
            inside,
            port,
            runtime: Some(runtime),
        }
    }

    /// Its port.
    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    /// An address of it: `url("bank.test", "/pay")`.
    pub(crate) fn url(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.port)
    }

    /// An origin of it, as a profile lists it.
    pub(crate) fn origin(&self, host: &str) -> String {
        format!("http://{host}:{}", self.port)
    }

    /// Sets a page. The key is `/path` or `host/path`.
    pub(crate) fn page(&self, key: &str, html: &str) -> &Self {
        let html = html.to_owned();
        self.answer(key, move |_| Answer::Page(html.clone()))
    }

    /// Sets what is answered, from the request.
    pub(crate) fn answer(
        &self,
        key: &str,
        script: impl Fn(&Seen) -> Answer + Send + Sync + 'static,
    ) -> &Self {
        let script: Script = Box::new(script);
        self.inside
            .answers
            .lock()
            .unwrap()
            .insert(key.to_owned(), Arc::new(script));
        self
    }

    /// How often an effect happened.
    pub(crate) fn count(&self, effect: &str) -> u64 {
        let told = self.inside.told.lock().unwrap();
        told.effects.get(effect).copied().unwrap_or(0)
    }

    /// Every effect that happened, with its count.
    pub(crate) fn effects(&self) -> BTreeMap<String, u64> {
        let told = self.inside.told.lock().unwrap();
        told.effects.iter().map(|(k, v)| (k.clone(), *v)).collect()
    }

    /// Waits until an effect happened that often.
    pub(crate) fn wait_for(&self, effect: &str, count: u64) {
        self.wait_until(&format!("{count} of {effect}"), |site| {
            site.effects.get(effect).copied().unwrap_or(0) >= count
        });
    }

    /// Waits for a request to a path and returns the first.
    pub(crate) fn wait_for_request(&self, path: &str) -> Seen {
        let mut found = None;
        self.wait_until(path, |told| {
            found = told.log.iter().find(|seen| seen.path == path).cloned();
            found.is_some()
        });
        found.unwrap()
    }

    /// Waits for a request of this kind.
    pub(crate) fn wait_until_requested(&self, wanted: impl Fn(&Seen) -> bool) {
        self.wait_until("a request", |told| told.log.iter().any(&wanted));
    }

    /// All requests so far.
    pub(crate) fn requests(&self) -> Vec<Seen> {
        self.inside.told.lock().unwrap().log.clone()
    }

    /// The requests to a host.
    pub(crate) fn requests_to(&self, host: &str) -> Vec<Seen> {
        let mut all = self.requests();
        all.retain(|seen| seen.host == host);
        all
    }

    fn wait_until(&self, what: &str, mut holds: impl FnMut(&Told) -> bool) {
        let end = Instant::now() + PATIENCE;
        let mut told = self.inside.told.lock().unwrap();
        while !holds(&told) {
            let left = end.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero(),
                "the site waited in vain for {what}; it saw {:#?}",
                told.log
                    .iter()
                    .map(|seen| format!("{} {}{}", seen.method, seen.host, seen.path))
                    .collect::<Vec<_>>()
            );
            told = self.inside.change.wait_timeout(told, left).unwrap().0;
        }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn serve(State(inside): State<Arc<Inside>>, request: Request<Body>) -> Response<Body> {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 4 << 20)
        .await
        .unwrap_or_else(|_| Bytes::new());
    let headers: BTreeMap<String, String> = head
        .headers
        .iter()
        .map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            (name.as_str().to_owned(), value)
        })
        .collect();
    let host = headers.get("host").map_or("", |host| {
        host.rsplit_once(':')
            .map_or(host.as_str(), |(host, _)| host)
    });
    let seen = Seen {
        method: head.method.as_str().to_owned(),
        host: host.to_owned(),
        path: head.uri.path().to_owned(),
        query: head.uri.query().unwrap_or("").to_owned(),
        body: String::from_utf8_lossy(&body).into_owned(),
        headers,
    };
    let effect = seen.path.strip_prefix("/effect/").map(str::to_owned);
    {
        let mut told = inside.told.lock().unwrap();
        if let Some(effect) = &effect {
            *told.effects.entry(effect.clone()).or_default() += 1;
        }
        told.log.push(seen.clone());
    }
    inside.change.notify_all();

    let script = {
        let answers = inside.answers.lock().unwrap();
        let here = format!("{}{}", seen.host, seen.path);
        answers
            .get(&here)
            .or_else(|| answers.get(&seen.path))
            .cloned()
    };
    let answer = match (script, effect) {
        (Some(script), _) => script(&seen),
        (None, Some(effect)) => Answer::Page(format!(
            "<!doctype html><title>{effect}</title><p>Done: {effect}</p>"
        )),
        (None, None) => file(&seen.path),
    };
    let port = inside.port.lock().unwrap().to_string();
    match answer {
        Answer::Page(html) => reply(
            200,
            &[(
                "content-type".to_owned(),
                "text/html; charset=utf-8".to_owned(),
            )],
            html.replace("{{port}}", &port).into_bytes(),
        ),
        Answer::Raw(status, mut headers, body) => {
            for (_, value) in &mut headers {
                *value = value.replace("{{port}}", &port);
            }
            reply(status, &headers, body)
        }
        Answer::Silence => std::future::pending().await,
    }
}

/// A page of `tests/pages/`: one plain name, no folder, no dots but the one before `html`.
fn file(path: &str) -> Answer {
    let name = path.strip_prefix('/').and_then(|p| p.strip_suffix(".html"));
    let plain = |name: &&str| {
        name.chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
    };
    let page = name.filter(plain).and_then(|name| {
        std::fs::read_to_string(tree().join("tests/pages").join(format!("{name}.html"))).ok()
    });
    page.map_or_else(
        || Answer::Raw(404, vec![], b"not here".to_vec()),
        Answer::Page,
    )
}

fn reply(status: u16, headers: &[(String, String)], body: Vec<u8>) -> Response<Body> {
    let mut response = Response::builder()
        .status(StatusCode::from_u16(status).unwrap())
        .header(header::CACHE_CONTROL, "no-store");
    for (name, value) in headers {
        response = response.header(name, value);
    }
    response.body(Body::from(body)).unwrap()
}
