//! The reply: what is redacted, joined with the journal's receipt. There is no other way to make one.

use serde_json::{Map, Value, json};

use super::redact::{Redacted, detail, encoded};
use crate::error::{Code, Refusal};
use crate::journal::Receipt;
use crate::policy::echo::Cleaner;

/// What the client is given.
#[derive(Debug)]
pub struct Reply {
    body: Value,
    image: Option<String>,
    refused: bool,
}

impl Reply {
    /// Joins what is redacted with its receipt. `registered` says which tools a suggestion may name.
    #[must_use]
    pub fn new(redacted: Redacted, receipt: &Receipt, registered: impl Fn(&str) -> bool) -> Self {
        Self::build(redacted, Some(receipt), registered)
    }

    /// Where the journal cannot be written there is no receipt: the only reply then is the refusal that says so.
    #[must_use]
    pub fn without_receipt(refusal: Refusal, registered: impl Fn(&str) -> bool) -> Self {
        let call = crate::journal::CallRecord::default();
        Self::build(
            super::redact::refusal(refusal, &call, &Cleaner::default()),
            None,
            registered,
        )
    }

    fn build(
        redacted: Redacted,
        receipt: Option<&Receipt>,
        registered: impl Fn(&str) -> bool,
    ) -> Self {
        let Redacted {
            mut server,
            mut page,
            image,
            refusal,
            ..
        } = redacted;
        let refused = refusal.is_some();
        if let Some(receipt) = receipt {
            server.insert("receipt".to_owned(), json!(receipt.to_string()));
        }
        let mut body = Map::new();
        if let Some(refusal) = refusal {
            describe(&refusal, &mut body, &mut page, registered);
        }
        body.insert("server".to_owned(), Value::Object(server));
        if !page.is_empty() {
            body.insert("page_content".to_owned(), Value::Object(page));
        }
        Self {
            body: Value::Object(body),
            image: image.map(|image| encoded(&image)),
            refused,
        }
    }

    /// The structured content.
    #[must_use]
    pub const fn body(&self) -> &Value {
        &self.body
    }

    /// The picture, in base64.
    #[must_use]
    pub fn image(&self) -> Option<&str> {
        self.image.as_deref()
    }

    /// Whether it is a refusal.
    #[must_use]
    pub const fn is_refusal(&self) -> bool {
        self.refused
    }
}

fn describe(
    refusal: &Refusal,
    body: &mut Map<String, Value>,
    page: &mut Map<String, Value>,
    registered: impl Fn(&str) -> bool,
) {
    let code: Code = refusal.code();
    let tool = code.suggested_tool();
    let suggestion = if tool.is_empty() || registered(tool) {
        code.suggestion()
    } else {
        "call status"
    };
    body.insert("code".to_owned(), json!(code.as_str()));
    body.insert("message".to_owned(), json!(code.message()));
    body.insert("suggestion".to_owned(), json!(suggestion));
    body.insert("retryable".to_owned(), json!(code.retryable()));
    body.insert("effect".to_owned(), json!(refusal.effect()));
    if let Some(details) = detail(refusal.detail(), page) {
        body.insert("details".to_owned(), details);
    }
}
