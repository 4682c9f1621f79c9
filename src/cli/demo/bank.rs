//! The demo's bank: accounts, and a transfer with password and one-time code.

use super::goods::Cents;
use super::pages::{self, Value};
use super::site::{Answer, Call, INITIALS, PERSON};
use super::state::Transfer;

impl Call<'_> {
    pub(super) fn bank(&self) -> Answer {
        match (self.post, self.path.as_str()) {
            (false, "/") => self.overview(),
            (false, "/transfer") => self.transfer(""),
            (true, "/transfer") => self.prepare(),
            (false, "/transfer/review") => self.review(),
            (true, "/transfer/send") => self.send(),
            (false, "/transfer/sent") => self.sent(),
            (_, _) => Answer::NotFound,
        }
    }

    pub(super) fn bank_page(&self, title: &str, content: &str) -> String {
        self.fill(
            pages::BANK,
            vec![
                ("title", title.into()),
                ("content", Value::Html(content.to_owned())),
                ("who", PERSON.into()),
                ("initials", INITIALS.into()),
            ],
        )
    }

    fn overview(&self) -> Answer {
        let (booked, balance) = {
            let told = self.inside.told();
            (told.booked.clone(), told.balance())
        };
        let latest: String = booked
            .iter()
            .rev()
            .map(|(who, what, amount)| {
                format!(
                    r#"<tr><td>Today</td><td>{}</td><td>{}</td><td class="n minus">−{}</td></tr>"#,
                    pages::escape(who),
                    pages::escape(what),
                    self.shown(*amount)
                )
            })
            .collect();
        let content = self.fill(
            pages::OVERVIEW,
            vec![
                ("balance", self.shown(balance).into()),
                ("latest", Value::Html(latest)),
            ],
        );
        Answer::Page(self.bank_page("Accounts", &content))
    }

    fn transfer(&self, problem: &str) -> Answer {
        let balance = self.inside.told().balance();
        let problem = if problem.is_empty() {
            String::new()
        } else {
            format!(r#"<p class="note warn" role="alert">{problem}</p>"#)
        };
        let content = self.fill(
            pages::TRANSFER,
            vec![
                ("balance", self.shown(balance).into()),
                ("problem", Value::Html(problem)),
                ("payee", self.field("payee").into()),
                ("iban", self.field("iban").into()),
                ("amount", self.field("amount").into()),
                ("reference", self.field("reference").into()),
            ],
        );
        Answer::Page(self.bank_page("New transfer", &content))
    }

    fn prepare(&self) -> Answer {
        let Some(amount) = Cents::parse(self.field("amount")) else {
            return self.transfer("The amount is not an amount of money.");
        };
        if self.field("payee").is_empty() || self.field("iban").len() < 15 {
            return self.transfer("The payee or the IBAN is missing.");
        }
        let mut told = self.inside.told();
        if amount > told.balance() {
            drop(told);
            return self.transfer("That is more than the account holds.");
        }
        told.transfer = Some(Transfer {
            payee: self.field("payee").to_owned(),
            iban: self.field("iban").to_owned(),
            amount,
            reference: self.field("reference").to_owned(),
        });
        Answer::To("/transfer/review".to_owned())
    }

    fn review(&self) -> Answer {
        let Some(transfer) = self.inside.told().transfer.clone() else {
            return Answer::To("/transfer".to_owned());
        };
        let content = self.fill(
            pages::REVIEW,
            vec![
                ("payee", transfer.payee.into()),
                ("iban", transfer.iban.into()),
                ("amount", self.shown(transfer.amount).into()),
                ("reference", transfer.reference.into()),
            ],
        );
        Answer::Page(self.bank_page("Review", &content))
    }

    fn send(&self) -> Answer {
        let mut told = self.inside.told();
        if self.field("password").is_empty() || self.field("code").is_empty() {
            return Answer::To("/transfer/review".to_owned());
        }
        let Some(transfer) = told.transfer.take() else {
            return Answer::To("/transfer".to_owned());
        };
        told.counters.transfers += 1;
        told.booked.push((
            transfer.payee.clone(),
            transfer.reference.clone(),
            transfer.amount,
        ));
        told.sent = Some(transfer);
        Answer::To("/transfer/sent".to_owned())
    }

    fn sent(&self) -> Answer {
        let Some(transfer) = self.inside.told().sent.clone() else {
            return Answer::To("/".to_owned());
        };
        let content = self.fill(
            pages::SENT,
            vec![
                ("amount", self.shown(transfer.amount).into()),
                ("payee", transfer.payee.into()),
            ],
        );
        Answer::Page(self.bank_page("Transfer sent", &content))
    }
}
