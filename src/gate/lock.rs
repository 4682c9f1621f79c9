//! The lock: free, or a person decides. There is no third way, and nothing here removes a lock.

use std::time::{Duration, Instant};

use crate::browser::probe::{ElementFacts, FilledField, OptionFacts, Print};
use crate::domain::action::Action;
use crate::domain::digest::{Canonical, Digest};
use crate::domain::lock::LockClass;
use crate::domain::site::{Address, Site};
use crate::domain::text::Untrusted;
use crate::error::Fault;
use crate::policy::amount::find_amounts;
use crate::policy::lock::{Effects, FormFacts, Locks, Source, Subject, Verdict};

use super::admit::Call;
use super::aim::{Arm, Wants, wants};
use super::clear::{self, Cleared};
use super::identity::Same;
use super::site::OnSite;

/// The two ways on.
#[derive(Debug)]
#[must_use]
pub enum Route {
    /// Nothing locks it.
    Free(Cleared),
    /// A person decides.
    Locked(Held),
}

/// An action held until a person has answered.
#[derive(Debug)]
#[must_use = "a held action goes to the journal, then to the person"]
pub struct Held {
    on: OnSite,
    class: LockClass,
    ticket: Ticket,
    digest: Digest,
    facts: Vec<Stated>,
}

/// One thing a person is told: a label of ours, what was read (`None` where it could not be), and whether it must be in sight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stated {
    /// A constant of ours.
    pub label: &'static str,
    /// What was read, as the journal has it.
    pub value: Option<Untrusted>,
    /// What the person is shown instead: a part of a sensitive number, which the journal must not have.
    pub in_the_window: Option<Untrusted>,
    /// Never scrolled out of sight or left out.
    pub critical: bool,
}

/// What makes an answer serve once, in one session, for a time.
#[derive(Debug)]
pub struct Ticket {
    session: String,
    nonce: [u8; 16],
    expires: Instant,
}

impl Ticket {
    /// A fresh ticket.
    ///
    /// # Errors
    /// Where the system gives no randomness.
    pub fn new(session: &str, now: Instant, deadline: Duration) -> Result<Self, Fault> {
        let mut nonce = [0_u8; 16];
        getrandom::fill(&mut nonce)
            .map_err(|error| Fault::internal("no randomness").because(error))?;
        // The second look and the intent follow at once; a minute after the deadline nothing is served any more.
        Ok(Self {
            session: session.to_owned(),
            nonce,
            expires: now + deadline + Duration::from_secs(60),
        })
    }

    pub(super) fn expired(&self, now: Instant) -> bool {
        now > self.expires
    }
}

/// Decides whether the action is free.
pub fn decide(on: OnSite, locks: &Locks, ticket: Ticket) -> Route {
    let class = match verdict(&on, locks) {
        Verdict::Free => return Route::Free(clear::free(on)),
        Verdict::Locked(locked) => locked.class(),
    };
    let digest = digest(&on, &ticket);
    let facts = facts(&on, class);
    Route::Locked(Held {
        on,
        class,
        ticket,
        digest,
        facts,
    })
}

impl Held {
    /// The class that names the window.
    #[must_use]
    pub const fn class(&self) -> LockClass {
        self.class
    }

    /// The action.
    #[must_use]
    pub const fn action(&self) -> &Action {
        &self.on.call().action
    }

    /// What the model says the action is for.
    #[must_use]
    pub const fn intent(&self) -> Option<LockClass> {
        self.on.call().intent
    }

    /// The site of the element's frame, or of the address.
    #[must_use]
    pub const fn site(&self) -> Option<&Site> {
        self.on.site()
    }

    /// The element, where there is one.
    #[must_use]
    pub const fn element(&self) -> Option<&ElementFacts> {
        match self.on.same() {
            Same::Element(_, facts) => Some(facts),
            Same::Tab(_) | Same::Opened(_) | Same::Sent(..) => None,
        }
    }

    /// What the answer is bound to.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// What the person is shown, in a fixed order (security C3).
    #[must_use]
    pub fn facts(&self) -> &[Stated] {
        &self.facts
    }

    /// Gives the evidence up: after a person has thought, it is old, and the second look reads anew.
    pub(super) fn give_up(self) -> (Call, Arm, Ticket, Digest) {
        let (call, same, _) = self.on.into_parts();
        let arm = match same {
            Same::Element(remembered, _) => Arm::Element(remembered),
            Same::Tab(facts) => Arm::Tab(facts.tab()),
            Same::Opened(address) => Arm::Opened(address),
            Same::Sent(facts, address, step) => Arm::Sent(facts.tab(), address, step),
        };
        (call, arm, self.ticket, self.digest)
    }
}

pub(super) fn wanted<'a>(call: &Call, arm: &'a Arm) -> Wants<'a> {
    wants(call, arm)
}

fn verdict(on: &OnSite, locks: &Locks) -> Verdict {
    let call = on.call();
    let mut texts: Vec<(Source, String)> = Vec::new();
    let mut form = FormFacts::default();
    let mut effects = Effects::Other;
    match on.same() {
        Same::Element(_, facts) => {
            if presses(&call.action) {
                for print in [Some(facts.print()), facts.effect()].into_iter().flatten() {
                    say_print(print, &mut texts);
                }
                texts.push((Source::Label, facts.name().raw().to_owned()));
                texts.push((Source::FormHeading, facts.form_heading().to_owned()));
                texts.push((Source::SectionHeading, facts.section_heading().to_owned()));
                texts.push((Source::FormHeading, facts.dialog().to_owned()));
                if facts.submits() {
                    effects = Effects::Submits;
                    texts.push((
                        Source::FormAction,
                        facts.effect().unwrap_or(facts.print()).action.clone(),
                    ));
                }
                form = FormFacts {
                    card_fields: facts.has_card_fields(),
                    new_password: facts.sets_password(),
                    one_time_code: facts.asks_code(),
                    account_number: facts.names_account(),
                    amount: !find_amounts(facts.around()).is_empty(),
                };
                let paying =
                    form.card_fields || form.new_password || (form.account_number && form.amount);
                if paying && !facts.is_field() {
                    // Where such a form is filled, whatever is pressed in it may send it by a script.
                    effects = Effects::Submits;
                }
            }
            let chosen = |option: &OptionFacts| match &call.action {
                Action::Select(_, wanted) => wanted
                    .iter()
                    .any(|text| text.raw() == option.label || text.raw() == option.value),
                // A key in a list may choose any of them.
                Action::PressOn(_, chord) | Action::Press(_, chord) => chord.chooses(),
                Action::Click(_)
                | Action::Fill(..)
                | Action::ScrollIn(..)
                | Action::Scroll(..)
                | Action::Open(_)
                | Action::Navigate(..)
                | Action::Close(_) => false,
            };
            if let Action::Select(_, wanted) = &call.action {
                let wanted = wanted.iter().map(|text| text.raw().to_owned());
                texts.extend(wanted.map(|text| (Source::OptionText, text)));
            }
            let mut choosing = false;
            for option in facts.options().iter().filter(|option| chosen(option)) {
                choosing = true;
                texts.push((Source::OptionText, option.label.clone()));
                texts.push((Source::OptionText, option.value.clone()));
            }
            if choosing {
                // A list may be sent as soon as something is chosen: what the list is called counts as well.
                texts.push((Source::Label, facts.name().raw().to_owned()));
            }
        }
        Same::Opened(address) | Same::Sent(_, address, _) => {
            texts.push((Source::Href, address.to_string()))
        }
        Same::Tab(_) => {}
    }
    let texts = texts
        .iter()
        .map(|(source, text)| (*source, text.as_str()))
        .collect();
    locks.decide(&Subject {
        texts,
        effects,
        form,
        intent: call.intent,
    })
}

/// Whether the gesture can press something.
fn presses(action: &Action) -> bool {
    match action {
        Action::Click(_) => true,
        Action::PressOn(_, chord) | Action::Press(_, chord) => chord.activates(),
        Action::Fill(..)
        | Action::Select(..)
        | Action::ScrollIn(..)
        | Action::Scroll(..)
        | Action::Open(_)
        | Action::Navigate(..)
        | Action::Close(_) => false,
    }
}

fn say_print(print: &Print, texts: &mut Vec<(Source, String)>) {
    texts.push((Source::Label, print.text.clone()));
    texts.extend(
        print
            .label
            .split(" · ")
            .map(|label| (Source::Label, label.to_owned())),
    );
    texts.push((Source::Href, print.href.clone()));
}

/// The canonical facts of C2: whatever a person was shown, and what makes the gesture what it is. Rectangles are no part of it.
pub(super) fn digest(on: &OnSite, ticket: &Ticket) -> Digest {
    let call = on.call();
    let nonce: String = ticket
        .nonce
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let mut canonical = Canonical::new("countersign answer 1")
        .field("session", &ticket.session)
        .field("nonce", &nonce)
        .field("gesture", call.action.name())
        .field("payload", &call.action.payload())
        .optional("intent", call.intent.map(LockClass::name))
        .optional("site", on.site().map(ToString::to_string).as_deref());
    canonical = match on.same() {
        Same::Element(_, facts) => {
            let origins: Vec<String> = facts
                .origins()
                .iter()
                .chain([facts.top()])
                .map(ToString::to_string)
                .collect();
            let filled: Vec<String> = facts
                .filled()
                .iter()
                .map(|field| format!("{}={}", field.label, field.value))
                .collect();
            let amounts = amounts(facts);
            canonical = canonical
                .field("tab", &facts.key().tab().to_string())
                .list("origins", origins.iter().map(String::as_str))
                .field("element", &format!("{:?}", facts.key()))
                .field("role", facts.role())
                .field("name", facts.name().raw());
            canonical = print(canonical, facts.print());
            match facts.effect() {
                Some(effect) => canonical = print(canonical, effect),
                None => canonical = canonical.field("effect", "none"),
            }
            canonical
                .field("form heading", facts.form_heading())
                .field("section heading", facts.section_heading())
                .field("url", facts.url())
                .list("filled", filled.iter().map(String::as_str))
                .field("contents", &facts.contents().hex())
                .list("amounts", amounts.iter().map(String::as_str))
        }
        Same::Tab(facts) => canonical
            .field("tab", &facts.tab().to_string())
            .field("origin", &facts.origin().to_string())
            .field("generation", &facts.generation().to_string()),
        Same::Opened(address) => canonical.field("address", address.as_str()),
        Same::Sent(facts, address, _) => canonical
            .field("tab", &facts.tab().to_string())
            .field("address", address.as_str()),
    };
    canonical.finish()
}

fn print(canonical: Canonical, print: &Print) -> Canonical {
    canonical
        .field("tag", &print.tag)
        .field("type", &print.kind)
        .field("text", &print.text)
        .field("label", &print.label)
        .field("href", &print.href)
        .field("action", &print.action)
        .field("verb", &print.verb)
        .field("target", &print.target)
        .field("serial", &print.serial.to_string())
}

/// The amounts as shown: on the element itself, then in the form or section around it.
fn amounts(facts: &ElementFacts) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for text in [&facts.print().text, facts.around()] {
        for span in find_amounts(text) {
            let amount = text.get(span).unwrap_or_default().trim().to_owned();
            if !found.contains(&amount) && found.len() < 6 {
                found.push(amount);
            }
        }
    }
    found
}

/// What the person reads, critical facts first. An absent fact is said to be unknown, never left out (security C3).
fn facts(on: &OnSite, class: LockClass) -> Vec<Stated> {
    let some = |text: &str| Some(Untrusted::new(text)).filter(|text| !text.is_blank());
    let critical = |label, value| Stated {
        label,
        value,
        in_the_window: None,
        critical: true,
    };
    let plain = |label, value| Stated {
        label,
        value,
        in_the_window: None,
        critical: false,
    };
    let mut out = vec![plain("Action", some(on.call().action.name()))];
    match on.same() {
        Same::Element(_, facts) => {
            let effect = facts.effect().unwrap_or(facts.print());
            out.push(critical("Control", some(&said_of(facts))));
            let amounts = amounts(facts);
            // What a payment comes to is said to be unknown where it is; elsewhere no amount is no news.
            if class == LockClass::Payment || !amounts.is_empty() {
                out.push(critical("Amounts shown", some(&amounts.join(" · "))));
            }
            if facts.submits() && !effect.action.is_empty() {
                out.push(critical("Sends the form to", some(&target(&effect.action))));
            } else if !effect.href.is_empty() {
                out.push(critical("Leads to", some(&target(&effect.href))));
            }
            if !facts.object().is_empty() {
                out.push(critical("In", some(facts.object())));
            }
            out.push(plain(
                "Form",
                some(facts.form_heading()).or_else(|| some(facts.section_heading())),
            ));
            out.push(plain("Page", some(facts.page_title())));
            // The window names the site of the element's own frame: whose page that stands in is said as well.
            if facts.origins().first() != Some(facts.top()) {
                out.push(plain("Inside a page of", some(&facts.top().to_string())));
            }
            let (known, others): (Vec<_>, Vec<_>) = facts
                .filled()
                .iter()
                .partition(|field| !field.ending.is_empty());
            // A number that a person knows again by its end comes first.
            for field in known.into_iter().chain(others).take(8) {
                out.push(stated(field));
            }
            if facts.field_count() > 8 {
                out.push(plain(
                    "More fields",
                    some(&(facts.field_count() - 8).to_string()),
                ));
            }
        }
        Same::Opened(address) | Same::Sent(_, address, _) => {
            out.push(critical("Opens", some(&target(address.as_str()))))
        }
        Same::Tab(facts) => out.push(critical("Tab", some(&facts.tab().to_string()))),
    }
    out
}

/// What the control says: the words on it, and what it is named where that is another thing.
fn said_of(facts: &ElementFacts) -> String {
    let (named, seen) = (facts.name().raw(), facts.effect().unwrap_or(facts.print()));
    match seen.text.as_str() {
        "" => named.to_owned(),
        text if facts.effect().is_none() && !named.is_empty() && named != text => {
            format!("{text} (named \u{201c}{named}\u{201d})")
        }
        text => text.to_owned(),
    }
}

/// What a field holds. Of a sensitive value only the window shows an end, and only of a long number.
fn stated(field: &FilledField) -> Stated {
    let text = |value: &str| Untrusted::new(format!("{}: {value}", field.label));
    let hidden = field.masked && !field.value.is_empty();
    let value = match field.value.as_str() {
        _ if hidden => "(filled, hidden)",
        "" => "(empty)",
        value => value,
    };
    let ends = !field.ending.is_empty();
    Stated {
        label: "Field",
        value: Some(text(value)),
        in_the_window: ends.then(|| text(&format!("(hidden, ends in {})", field.ending))),
        critical: ends,
    }
}

/// Where something is sent: the canonical site and path, or that it cannot be read.
fn target(text: &str) -> String {
    Address::parse(text).map_or_else(
        |_| "an address that cannot be read".to_owned(),
        |address| format!("{}{}", address.site(), address.path_and_query().raw()),
    )
}
