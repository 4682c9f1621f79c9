//! Decides whether an action is free or locked: shipped words, the operator's own words, what the form holds, and what the
//! model says it is for. Each can add a lock; nothing removes one.

use std::collections::BTreeSet;

use super::amount::find_amounts;
use super::floor::{Floor, FloorError, Place};
use super::matcher::Matcher;
use super::normalise::Readings;
use super::pattern::{Pattern, PatternError};
use crate::domain::lock::LockClass;

/// Where a text of the action comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// The target's visible text or accessible name.
    Label,
    /// The text or value of a chosen option.
    OptionText,
    /// The heading or legend of the form or dialog around the target.
    FormHeading,
    /// The heading of the section around it.
    SectionHeading,
    /// The address a link or a navigation leads to.
    Href,
    /// The address a form is sent to.
    FormAction,
}

impl Source {
    /// All sources.
    pub const ALL: [Self; 6] = [
        Self::Label,
        Self::OptionText,
        Self::FormHeading,
        Self::SectionHeading,
        Self::Href,
        Self::FormAction,
    ];

    /// The name in the journal and in `policy` output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Label => "label",
            Self::OptionText => "option",
            Self::FormHeading => "form heading",
            Self::SectionHeading => "section heading",
            Self::Href => "address",
            Self::FormAction => "form action",
        }
    }

    const fn place(self) -> Place {
        match self {
            Self::Label | Self::OptionText => Place::Label,
            Self::FormHeading | Self::SectionHeading => Place::Heading,
            Self::Href | Self::FormAction => Place::Href,
        }
    }
}

/// What the gesture would set off, as far as the page's structure tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effects {
    /// It sends a form, or answers a dialog.
    Submits,
    /// Nothing of that kind is known.
    Other,
}

/// What the form around the target holds. Facts read from the page, not decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FormFacts {
    /// A field for a card number, its security code or its expiry.
    pub card_fields: bool,
    /// A field for a new password, or two password fields.
    pub new_password: bool,
    /// A field for a one-time code.
    pub one_time_code: bool,
    /// A field for an IBAN or an account number.
    pub account_number: bool,
    /// The form or dialog shows an amount of money, or has a field for one.
    pub amount: bool,
}

/// All that the lock decision looks at.
#[derive(Debug, Clone)]
pub struct Subject<'a> {
    /// The texts of the target and around it.
    pub texts: Vec<(Source, &'a str)>,
    /// What the gesture would set off.
    pub effects: Effects,
    /// What the form holds.
    pub form: FormFacts,
    /// What the model says the action is for.
    pub intent: Option<LockClass>,
}

/// Free or locked; there is no third.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// Nothing locks the action.
    Free,
    /// A person decides.
    Locked(Locked),
}

/// Why an action is locked: at least one reason, strictest class first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locked {
    first: Reason,
    others: Vec<Reason>,
}

impl Locked {
    /// The strictest class: it names the window.
    #[must_use]
    pub const fn class(&self) -> LockClass {
        self.first.class
    }

    /// Every class, strictest first, each once.
    #[must_use]
    pub fn classes(&self) -> Vec<LockClass> {
        let mut classes: Vec<LockClass> = self.reasons().map(|reason| reason.class).collect();
        classes.dedup();
        classes
    }

    /// The reasons, strictest class first.
    pub fn reasons(&self) -> impl Iterator<Item = &Reason> {
        std::iter::once(&self.first).chain(&self.others)
    }
}

/// One reason for a lock.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reason {
    /// The class it locks as.
    pub class: LockClass,
    /// What it rests on.
    pub because: Because,
}

/// What a lock rests on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Because {
    /// The form holds card fields.
    CardFields,
    /// The form sets a password.
    NewPassword,
    /// The form names an account and an amount, or confirms an amount by a one-time code.
    Transfer,
    /// A word of assent stands beside an amount of money.
    AssentToAmount,
    /// The model says so.
    Intent,
    /// A shipped entry: where its words were found, the vocabulary's language and its own reason. For the operator only.
    Words {
        /// Where.
        source: Source,
        /// The vocabulary's two-letter language code.
        language: String,
        /// The entry's reason.
        why: String,
    },
    /// The operator's own words, and where they were found.
    OwnWords(Source),
}

impl Because {
    /// The name in the journal and in `policy` output.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::CardFields => "card_fields",
            Self::NewPassword => "new_password",
            Self::Transfer => "transfer",
            Self::AssentToAmount => "assent_to_amount",
            Self::Intent => "intent",
            Self::Words { .. } => "words",
            Self::OwnWords(_) => "own_words",
        }
    }
}

/// An operator's own lock, compiled.
#[derive(Debug, Clone)]
pub struct OwnLock {
    class: LockClass,
    words: Vec<String>,
    language: Option<String>,
    patterns: Vec<Pattern>,
}

impl OwnLock {
    /// Compiles the words.
    ///
    /// # Errors
    /// The number of the first word pattern that cannot be used, and why.
    pub fn new(
        class: LockClass,
        words: Vec<String>,
        language: Option<String>,
    ) -> Result<Self, (usize, PatternError)> {
        let patterns = words
            .iter()
            .enumerate()
            .map(|(at, word)| Pattern::parse(word).map_err(|error| (at, error)))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            class,
            words,
            language,
            patterns,
        })
    }

    /// The class.
    #[must_use]
    pub const fn class(&self) -> LockClass {
        self.class
    }

    /// The words as the profile spells them.
    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The language the operator noted.
    #[must_use]
    pub fn language(&self) -> Option<&str> {
        self.language.as_deref()
    }
}

/// The floor and the operator's own locks together.
#[derive(Debug)]
pub struct Locks {
    floor: &'static Floor,
    own: Matcher,
    classes: Vec<LockClass>,
}

impl Locks {
    /// Joins the shipped floor with the operator's own locks.
    ///
    /// # Errors
    /// Where the shipped vocabulary fails its own examples.
    pub fn new(own_locks: &[OwnLock]) -> Result<Self, FloorError> {
        let floor = Floor::shipped().map_err(Clone::clone)?;
        let mut own = Matcher::default();
        for (number, lock) in own_locks.iter().enumerate() {
            for pattern in &lock.patterns {
                own.add(number, pattern);
            }
        }
        Ok(Self {
            floor,
            own,
            classes: own_locks.iter().map(OwnLock::class).collect(),
        })
    }

    /// The decision.
    pub fn decide(&self, subject: &Subject<'_>) -> Verdict {
        let submits = self.submits(subject);
        let mut reasons = BTreeSet::new();
        let mut add = |class, because| {
            reasons.insert(Reason { class, because });
        };
        if let Some(class) = subject.intent {
            add(class, Because::Intent);
        }
        // A dialog or a form that names an amount, and a button that says yes to it.
        let priced = subject
            .texts
            .iter()
            .any(|(source, text)| *source == Source::FormHeading && !find_amounts(text).is_empty());
        for (source, text) in &subject.texts {
            let place = source.place();
            // A heading describes every control near it; only one that sends or assents carries it out.
            if place == Place::Heading && !submits {
                continue;
            }
            for entry in self.floor.find(place, text) {
                add(
                    entry.class(),
                    Because::Words {
                        source: *source,
                        language: entry.language().to_owned(),
                        why: entry.why().to_owned(),
                    },
                );
            }
            for class in self.own_classes(place, text) {
                add(class, Because::OwnWords(*source));
            }
            if *source == Source::Label
                && self.floor.confirms(text)
                && (priced || !find_amounts(text).is_empty())
            {
                add(LockClass::Payment, Because::AssentToAmount);
            }
        }
        if submits {
            let form = subject.form;
            if form.card_fields {
                add(LockClass::Payment, Because::CardFields);
            }
            if form.amount && (form.account_number || form.one_time_code) {
                add(LockClass::Payment, Because::Transfer);
            }
            if form.new_password {
                add(LockClass::Secret, Because::NewPassword);
            }
        }
        let mut reasons = reasons.into_iter();
        match reasons.next() {
            None => Verdict::Free,
            Some(first) => Verdict::Locked(Locked {
                first,
                others: reasons.collect(),
            }),
        }
    }

    /// A button that says "Confirm" or "Yes" counts as sending, whatever its markup claims.
    fn submits(&self, subject: &Subject<'_>) -> bool {
        subject.effects == Effects::Submits
            || subject
                .texts
                .iter()
                .any(|(source, text)| source.place() == Place::Label && self.floor.confirms(text))
    }

    fn own_classes(&self, place: Place, text: &str) -> BTreeSet<LockClass> {
        let readings = match place {
            Place::Label | Place::Heading => vec![Readings::of_text(text)],
            Place::Href => super::address::readings_of_address(text),
        };
        let mut found = BTreeSet::new();
        for readings in readings {
            self.own.find(&readings, |number, _| {
                found.extend(self.classes.get(number).copied())
            });
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn locks() -> Locks {
        Locks::new(&[]).unwrap()
    }

    fn subject<'a>(texts: &[(Source, &'a str)], effects: Effects) -> Subject<'a> {
        Subject {
            texts: texts.to_vec(),
            effects,
            form: FormFacts::default(),
            intent: None,
        }
    }

    fn class(verdict: &Verdict) -> Option<LockClass> {
        match verdict {
            Verdict::Free => None,
            Verdict::Locked(locked) => Some(locked.class()),
        }
    }

    #[test]
    fn labels_and_addresses_lock() {
        use LockClass as L;
        use Source as S;
        for (source, text, want) in [
            (S::Label, "Pay now", Some(L::Payment)),
            (S::Label, "Add to basket", None),
            (S::OptionText, "Delete all", Some(L::Deletion)),
            (
                S::Href,
                "https://shop.test/orders/7/cancel",
                Some(L::Deletion),
            ),
            (S::FormAction, "/transfer", Some(L::Payment)),
            (S::Href, "/orders", None),
            (S::Label, "Zahlungspflichtig bestellen", Some(L::Payment)),
            (S::Label, "Envoyer", Some(L::Send)),
        ] {
            let verdict = locks().decide(&subject(&[(source, text)], Effects::Other));
            assert_eq!(class(&verdict), want, "{text}");
        }
    }

    #[test]
    fn yes_to_an_amount_that_the_dialog_names_is_a_payment() {
        use Source as S;
        let said = "Send 500 EUR to Bob?";
        let verdict = |label| {
            locks().decide(&subject(
                &[(S::FormHeading, said), (S::Label, label)],
                Effects::Other,
            ))
        };
        assert_eq!(class(&verdict("Yes")), Some(LockClass::Payment));
        assert_eq!(class(&verdict("Cancel")), None);
    }

    #[test]
    fn names_of_ordinary_lists_are_free() {
        for name in [
            "Payment method",
            "Country",
            "Delivery",
            "Quantity",
            "Account",
            "Sort by",
            "Zahlungsart",
            "Mode de paiement",
        ] {
            let verdict = locks().decide(&subject(&[(Source::Label, name)], Effects::Other));
            assert_eq!(class(&verdict), None, "{name}");
        }
    }

    #[test]
    fn a_heading_arms_only_what_sends_or_assents() {
        let texts = [
            (Source::FormHeading, "Confirm payment"),
            (Source::Label, "Show details"),
        ];
        assert_eq!(
            locks().decide(&subject(&texts, Effects::Other)),
            Verdict::Free
        );
        assert_eq!(
            class(&locks().decide(&subject(&texts, Effects::Submits))),
            Some(LockClass::Payment)
        );
        let texts = [
            (Source::SectionHeading, "Delete photo.jpg?"),
            (Source::Label, "Yes"),
        ];
        assert_eq!(
            class(&locks().decide(&subject(&texts, Effects::Other))),
            Some(LockClass::Deletion)
        );
    }

    #[test]
    fn what_a_form_holds_locks_sending_it() {
        let cases: [(FormFacts, Option<LockClass>); 6] = [
            (
                FormFacts {
                    card_fields: true,
                    ..FormFacts::default()
                },
                Some(LockClass::Payment),
            ),
            (
                FormFacts {
                    new_password: true,
                    ..FormFacts::default()
                },
                Some(LockClass::Secret),
            ),
            (
                FormFacts {
                    one_time_code: true,
                    ..FormFacts::default()
                },
                None,
            ),
            (
                FormFacts {
                    one_time_code: true,
                    amount: true,
                    ..FormFacts::default()
                },
                Some(LockClass::Payment),
            ),
            (
                FormFacts {
                    account_number: true,
                    amount: true,
                    ..FormFacts::default()
                },
                Some(LockClass::Payment),
            ),
            (
                FormFacts {
                    amount: true,
                    ..FormFacts::default()
                },
                None,
            ),
        ];
        for (form, want) in cases {
            let mut it = subject(&[(Source::Label, "Go")], Effects::Submits);
            it.form = form;
            assert_eq!(class(&locks().decide(&it)), want, "{form:?}");
            it.effects = Effects::Other;
            assert_eq!(locks().decide(&it), Verdict::Free, "{form:?}");
        }
    }

    #[test]
    fn assent_beside_an_amount_is_payment() {
        let verdict = locks().decide(&subject(
            &[(Source::Label, "Continue (€12.50)")],
            Effects::Other,
        ));
        assert_eq!(class(&verdict), Some(LockClass::Payment));
        let verdict = locks().decide(&subject(
            &[(Source::Label, "Add to basket €12.50")],
            Effects::Submits,
        ));
        assert_eq!(verdict, Verdict::Free);
    }

    #[test]
    fn the_strictest_class_comes_first_and_all_are_named() {
        let mut it = subject(
            &[
                (Source::Label, "Send"),
                (Source::FormHeading, "Delete account"),
            ],
            Effects::Submits,
        );
        it.intent = Some(LockClass::Credential);
        let Verdict::Locked(locked) = locks().decide(&it) else {
            panic!("free")
        };
        assert_eq!(locked.class(), LockClass::Deletion);
        let names: BTreeSet<&str> = locked.reasons().map(|r| r.because.name()).collect();
        assert_eq!(names, BTreeSet::from(["intent", "words"]));
        assert_eq!(
            locked.classes(),
            [
                LockClass::Deletion,
                LockClass::Account,
                LockClass::Send,
                LockClass::Credential
            ]
        );
    }

    #[test]
    fn the_operators_words_add_and_remove_nothing() {
        let own = OwnLock::new(
            LockClass::Legal,
            vec!["release (the|) dam".into()],
            Some("en".into()),
        )
        .unwrap();
        let locks = Locks::new(&[own]).unwrap();
        let locked = locks.decide(&subject(
            &[(Source::Label, "Release dam 7")],
            Effects::Other,
        ));
        assert_eq!(class(&locked), Some(LockClass::Legal));
        let still = locks.decide(&subject(&[(Source::Label, "Pay now")], Effects::Other));
        assert_eq!(class(&still), Some(LockClass::Payment));
        assert_eq!(
            OwnLock::new(LockClass::Legal, vec!["ok".into(), "(".into()], None).map(|_| ()),
            Err((1, PatternError::Unbalanced))
        );
    }

    fn any_class() -> impl Strategy<Value = LockClass> {
        proptest::sample::select(LockClass::ALL.to_vec())
    }

    proptest! {
        #[test]
        fn more_facts_never_unlock(
            texts in proptest::collection::vec((proptest::sample::select(Source::ALL.to_vec()), any::<String>()), 0..4),
            intent in proptest::option::of(any_class()),
            flags in any::<[bool; 6]>(),
        ) {
            let locks = locks();
            let form = FormFacts {
                card_fields: flags[0], new_password: flags[1], one_time_code: flags[2], account_number: flags[3], amount: flags[4],
            };
            let base = Subject {
                texts: vec![(Source::Label, "Delete")],
                effects: Effects::Other,
                form: FormFacts::default(),
                intent: None,
            };
            let mut more = base.clone();
            more.texts.extend(texts.iter().map(|(source, text)| (*source, text.as_str())));
            more.form = form;
            more.intent = intent;
            if flags[5] { more.effects = Effects::Submits; }
            let Verdict::Locked(before) = locks.decide(&base) else { panic!("free") };
            let Verdict::Locked(after) = locks.decide(&more) else { panic!("unlocked") };
            for class in before.classes() {
                prop_assert!(after.classes().contains(&class));
            }
            if let Some(class) = intent {
                prop_assert!(after.classes().contains(&class));
            }
            prop_assert!(after.class() <= before.class());
        }
    }
}
