//! A made-up shop and bank on the loopback interface, which count every effect where it happens.
//!
//! Three hosts lead to one port: [`SHOP`], [`BANK`], and [`OFF_LIST`], which stands for a site the operator never
//! listed. A person's login is a cookie that `/session` sets on each host.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::{Method, Request, Response, StatusCode, header};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::goods::{Cents, Language};
use super::pages::{self, Value, fill, word};
pub use super::state::Counters;
use super::state::Inside;
use crate::error::Fault;

/// The shop's host name.
pub const SHOP: &str = "shop.test";
/// The bank's host name.
pub const BANK: &str = "bank.test";
/// The host that is on nobody's list.
pub const OFF_LIST: &str = "evil.test";

/// Who is signed in on both sites.
pub(super) const PERSON: &str = "Anna Berger";
pub(super) const INITIALS: &str = "AB";
const BODY_LIMIT: usize = 64 << 10;

/// A running site. Dropping it ends it at once; [`DemoSite::stop`] ends it in order.
pub struct DemoSite {
    port: u16,
    inside: Arc<Inside>,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<()>,
}

impl DemoSite {
    /// Starts it at a free port of 127.0.0.1.
    ///
    /// # Errors
    /// Where no port can be had, or the system gives no random bytes.
    pub async fn start() -> Result<Self, Fault> {
        let inside = Arc::new(Inside::new()?);
        let listener = tokio::net::TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
            .await
            .map_err(|e| Fault::internal("the demo site found no port").because(e))?;
        let port = listener
            .local_addr()
            .map_err(|e| Fault::internal("the demo site has no address").because(e))?
            .port();
        let (stop, stopped) = oneshot::channel::<()>();
        let app = axum::Router::new()
            .fallback(serve)
            .with_state(Arc::clone(&inside));
        let serving = tokio::spawn(async move {
            let done = axum::serve(listener, app).with_graceful_shutdown(async {
                let _ = stopped.await;
            });
            if let Err(error) = done.await {
                tracing::error!(%error, "the demo site ended");
            }
        });
        Ok(Self {
            port,
            inside,
            stop: Some(stop),
            serving,
        })
    }

    /// The port all its hosts answer at.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The origin of one of its hosts, as an operator's profile lists it: `http://shop.test:PORT`.
    #[must_use]
    pub fn origin(&self, host: &str) -> String {
        format!("http://{host}:{}", self.port)
    }

    /// What has happened so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.inside.told().counters
    }

    /// Waits until a browser is signed in on both sites: it has come back with the cookie of each. False when it takes
    /// too long.
    pub async fn signed_in(&self, within: Duration) -> bool {
        let mut arrived = self.inside.arrived.subscribe();
        let both = arrived.wait_for(|(shop, bank)| *shop && *bank);
        tokio::time::timeout(within, both)
            .await
            .is_ok_and(|both| both.is_ok())
    }

    /// Ends it: requests under way are answered, for at most two seconds.
    pub async fn stop(mut self) {
        drop(self.stop.take());
        let _ = tokio::time::timeout(Duration::from_secs(2), &mut self.serving).await;
    }
}

impl Drop for DemoSite {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// What is sent back.
pub(super) enum Answer {
    Page(String),
    /// To another page of the same site, which is then asked for with GET.
    To(String),
    /// The plain redirect that a link answers with.
    Away(String),
    Json(String),
    Style,
    SignedIn,
    SignedOut(String),
    NotFound,
    Forbidden,
}

/// One request, read.
pub(super) struct Call<'a> {
    pub(super) inside: &'a Inside,
    pub(super) language: Language,
    pub(super) path: String,
    pub(super) post: bool,
    pub(super) fields: HashMap<String, String>,
}

async fn serve(State(inside): State<Arc<Inside>>, request: Request<Body>) -> Response<Body> {
    let (head, body) = request.into_parts();
    let header = |name| head.headers.get(name).and_then(|value| value.to_str().ok());
    let host = header(header::HOST).unwrap_or("");
    let host = host.split_once(':').map_or(host, |(host, _)| host);
    let cookie = format!("session={}", inside.session);
    let signed_in =
        header(header::COOKIE).is_some_and(|all| all.split(';').any(|one| one.trim() == cookie));
    if signed_in {
        inside.arrived.send_modify(|(shop, bank)| {
            *shop |= host == SHOP;
            *bank |= host == BANK;
        });
    }
    let post = head.method == Method::POST;
    let text = if post {
        let bytes = to_bytes(body, BODY_LIMIT).await.unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    } else {
        head.uri.query().unwrap_or("").to_owned()
    };
    let fields = url::form_urlencoded::parse(text.as_bytes())
        .into_owned()
        .collect();
    let path = head.uri.path();
    let (language, path) = match path.strip_prefix("/de") {
        Some(rest) if host == SHOP && (rest.is_empty() || rest.starts_with('/')) => {
            (Language::German, if rest.is_empty() { "/" } else { rest })
        }
        Some(_) | None => (Language::English, path),
    };
    let call = Call {
        inside: &inside,
        language,
        path: path.to_owned(),
        post,
        fields,
    };
    let port = header(header::HOST)
        .and_then(|host| host.split_once(':'))
        .map_or("80", |(_, port)| port);
    let answer = match (host, path) {
        (OFF_LIST, _) => {
            inside.told().counters.offlist += 1;
            Answer::Page(fill(pages::OFF_LIST, Language::English, &[]))
        }
        (SHOP | BANK, "/style.css") => Answer::Style,
        (SHOP | BANK, "/session") => Answer::SignedIn,
        (SHOP | BANK, "/counter") => {
            Answer::Json(serde_json::to_string(&inside.told().counters).unwrap_or_default())
        }
        // A redirect that a listed site answers with, to a site that is on nobody's list.
        (SHOP | BANK, "/partner") => Answer::Away(format!("http://{OFF_LIST}:{port}/parcel-prize")),
        (SHOP, _) if !signed_in => Answer::SignedOut(call.shop_page(
            "signed.out.title",
            &format!(
                "<h1>{}</h1><p>{}</p>",
                call.word("signed.out.title"),
                call.word("signed.out")
            ),
        )),
        (BANK, _) if !signed_in => Answer::SignedOut(call.bank_page(
            "Please sign in",
            "<h1>Please sign in</h1><p>You are not signed in on this browser.</p>",
        )),
        (SHOP | BANK, _) if post && call.field("token") != inside.token => Answer::Forbidden,
        (SHOP, _) => call.shop(),
        (BANK, _) => call.bank(),
        (_, _) => Answer::NotFound,
    };
    respond(answer, &inside)
}

fn respond(answer: Answer, inside: &Inside) -> Response<Body> {
    let html = "text/html; charset=utf-8";
    let (status, kind, body, extra) = match answer {
        Answer::Page(page) => (StatusCode::OK, html, page, None),
        Answer::To(place) => (
            StatusCode::SEE_OTHER,
            html,
            String::new(),
            Some((header::LOCATION, place)),
        ),
        Answer::Away(place) => (
            StatusCode::FOUND,
            html,
            String::new(),
            Some((header::LOCATION, place)),
        ),
        Answer::Json(text) => (StatusCode::OK, "application/json", text, None),
        Answer::Style => (
            StatusCode::OK,
            "text/css; charset=utf-8",
            pages::STYLE.to_owned(),
            None,
        ),
        Answer::SignedIn => {
            let cookie = format!(
                "session={}; Path=/; HttpOnly; SameSite=Lax; Max-Age=86400",
                inside.session
            );
            let page = r#"<!doctype html><meta http-equiv="refresh" content="0; url=/"><title>Signed in</title>"#;
            (
                StatusCode::OK,
                html,
                page.to_owned(),
                Some((header::SET_COOKIE, cookie)),
            )
        }
        Answer::SignedOut(page) => (StatusCode::UNAUTHORIZED, html, page, None),
        Answer::NotFound => (
            StatusCode::NOT_FOUND,
            html,
            "<!doctype html><title>Not here</title><p>Not here.</p>".to_owned(),
            None,
        ),
        Answer::Forbidden => (
            StatusCode::FORBIDDEN,
            html,
            "<!doctype html><title>Refused</title><p>This form is out of date.</p>".to_owned(),
            None,
        ),
    };
    let mut response = Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, kind)
        .header(header::CACHE_CONTROL, "no-store");
    if let Some((name, value)) = extra {
        response = response.header(name, value);
    }
    response.body(Body::from(body)).unwrap_or_default()
}

impl Call<'_> {
    pub(super) fn field(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", |value| value.trim())
    }

    pub(super) fn word<'k>(&self, key: &'k str) -> &'k str {
        word(key, self.language)
    }

    pub(super) fn fill(&self, template: &str, values: Vec<(&str, Value)>) -> String {
        let mut all = values;
        all.push(("base", self.language.base().into()));
        all.push(("token", self.inside.token.as_str().into()));
        fill(template, self.language, &all)
    }

    pub(super) fn shown(&self, amount: Cents) -> String {
        amount.shown(self.language)
    }

    pub(super) fn to(&self, path: &str) -> Answer {
        Answer::To(format!("{}{path}", self.language.base()))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::*;

    /// A person's browser, as far as these pages need one: it keeps the cookie and the form token.
    struct Visitor {
        port: u16,
        cookie: String,
    }

    impl Visitor {
        fn ask(&self, host: &str, path: &str, form: Option<&str>) -> String {
            let mut stream =
                std::net::TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
            let (method, body) = form.map_or(("GET", ""), |form| ("POST", form));
            write!(
                stream,
                "{method} {path} HTTP/1.1\r\nhost: {host}:{}\r\ncookie: a=b; {}\r\nconnection: close\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{body}",
                self.port,
                self.cookie,
                body.len()
            )
            .unwrap();
            let mut text = String::new();
            stream.read_to_string(&mut text).unwrap();
            text
        }

        fn shop(&self, path: &str) -> String {
            self.ask(SHOP, path, None)
        }
    }

    fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
        let from = text
            .split_once(start)
            .unwrap_or_else(|| panic!("no {start} in {text}"))
            .1;
        from.split_once(end).unwrap().0
    }

    async fn signed_in() -> (DemoSite, Visitor, String) {
        let site = DemoSite::start().await.unwrap();
        let mut visitor = Visitor {
            port: site.port(),
            cookie: String::new(),
        };
        assert!(visitor.shop("/").starts_with("HTTP/1.1 401"));
        let answer = visitor.shop("/session");
        visitor.cookie = between(&answer, "set-cookie: ", ";").to_owned();
        let token = between(
            &visitor.shop("/product/linen-shirt"),
            r#"name="token" value=""#,
            "\"",
        )
        .to_owned();
        (site, visitor, token)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_shop_takes_one_payment_and_counts_it() {
        let (site, visitor, token) = signed_in().await;
        let post = |path: &str, form: &str| {
            visitor.ask(SHOP, path, Some(&format!("token={token}&{form}")))
        };
        // No size, no basket.
        post("/basket", "product=linen-shirt&quantity=1");
        assert_eq!(site.counters().baskets, 0);
        assert!(
            post("/basket", "product=linen-shirt&size=m&quantity=1").contains("location: /basket")
        );
        assert!(visitor.shop("/basket").contains("Size M"));
        let card = "cc-name=A&cc-number=4111111111111111&cc-exp=1/30&cc-csc=123";
        post("/pay", card);
        assert_eq!(site.counters().payments, 0, "no address yet");
        post(
            "/checkout",
            "name=Anna&street=Mill+Lane+2&postcode=10115&city=Berlin&country=de&delivery=standard",
        );
        assert!(
            visitor
                .shop("/payment")
                .contains("<button class=\"wide\">Pay 42.50 €</button>")
        );
        assert!(
            visitor
                .shop("/de/payment")
                .contains("<button class=\"wide\">Zahlungspflichtig bestellen</button>")
        );
        post("/pay", "cc-name=A");
        visitor.ask(SHOP, "/pay", Some(card));
        assert_eq!(site.counters().payments, 0, "an empty card, then no token");
        post("/pay", card);
        post("/pay", card);
        assert_eq!(
            site.counters(),
            Counters {
                payments: 1,
                baskets: 1,
                ..Counters::default()
            }
        );
        assert!(visitor.shop("/thanks").contains("LL-2041"));
        assert!(visitor.ask(BANK, "/", None).contains("−42.50 €"));
        site.stop().await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_bank_sends_one_transfer_and_counts_it() {
        let (site, visitor, token) = signed_in().await;
        let post = |path: &str, form: &str| {
            visitor.ask(BANK, path, Some(&format!("token={token}&{form}")))
        };
        post("/transfer/send", "password=x&code=1");
        let to = "payee=%3Cb%3EBo&iban=FR1420041010050500013M02606&reference=r";
        assert!(post("/transfer", &format!("{to}&amount=9999999")).contains("not an amount"));
        assert!(
            post("/transfer", &format!("{to}&amount=99999"))
                .contains("more than the account holds")
        );
        assert!(
            post("/transfer", &format!("{to}&amount=120")).contains("location: /transfer/review")
        );
        assert!(
            visitor
                .ask(BANK, "/transfer/review", None)
                .contains("&lt;b&gt;Bo")
        );
        post("/transfer/send", "password=x");
        assert_eq!(site.counters().transfers, 0);
        post("/transfer/send", "password=x&code=1");
        post("/transfer/send", "password=x&code=1");
        assert_eq!(site.counters().transfers, 1);
        assert!(visitor.ask(BANK, "/", None).contains("4,198.45 €"));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_link_leads_off_the_list_and_arrivals_are_counted() {
        let (site, visitor, _) = signed_in().await;
        let answer = visitor.shop("/partner");
        assert!(answer.starts_with("HTTP/1.1 302"));
        assert_eq!(
            between(&answer, "location: ", "\r"),
            format!("http://evil.test:{}/parcel-prize", site.port())
        );
        assert_eq!(site.counters().offlist, 0);
        assert!(
            visitor
                .ask(OFF_LIST, "/parcel-prize", None)
                .starts_with("HTTP/1.1 200")
        );
        assert!(
            visitor
                .ask("other.test", "/", None)
                .starts_with("HTTP/1.1 404")
        );
        let counted = visitor.shop("/counter");
        let counted: serde_json::Value =
            serde_json::from_str(counted.split_once("\r\n\r\n").unwrap().1).unwrap();
        assert_eq!(
            counted,
            serde_json::json!({"payments": 0, "baskets": 0, "transfers": 0, "offlist": 1})
        );
        assert_eq!(site.counters().offlist, 1);
    }
}
