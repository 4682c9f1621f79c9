//! The story of the demo, step by step. Effects are counted at the site's own server, never by what a reply says.

#![allow(
    clippy::indexing_slicing,
    reason = "a JSON value that lacks a member answers null, it does not panic"
)]

use std::fmt;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::client::Said;
use super::person::Person;
use super::site::{BANK, Counters, OFF_LIST, SHOP};
use super::stage::Stage;

/// A step that did not hold.
#[derive(Debug)]
pub(super) struct Broken(String);

impl Broken {
    pub(super) fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }

    pub(super) fn because(self, why: impl fmt::Display) -> Self {
        Self(format!("{}: {why}", self.0))
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The card that is typed. Every payment service takes this number for a test and for nothing else.
const CARD: &str = "4111 1111 1111 1111";
const CODE: &str = "739";

/// One telling.
struct Telling<'a> {
    stage: &'a mut Stage,
    person: Person,
    out: &'a mut dyn Write,
    folder: PathBuf,
    pictures: u32,
}

/// Tells the whole story and fails at the first step that does not hold.
pub(super) async fn tell(
    folder: &Path,
    person: Person,
    stage: &mut Stage,
    out: &mut dyn Write,
) -> Result<(), Broken> {
    let folder = fs::create_dir_all(folder)
        .and_then(|()| folder.canonicalize())
        .map_err(|error| {
            Broken::new("the directory for the pictures cannot be made").because(error)
        })?;
    let mut telling = Telling {
        stage,
        person,
        out,
        folder,
        pictures: 0,
    };
    let tab = telling.begin().await?;
    telling.shop(&tab).await?;
    telling.check_out(&tab).await?;
    telling.nobody_answers(&tab).await?;
    telling.a_person_allows(&tab).await?;
    telling.off_the_list(&tab).await?;
    telling.journal().await
}

impl Telling<'_> {
    /// The operator's first hour, and the client's first call.
    async fn begin(&mut self) -> Result<String, Broken> {
        self.chapter("The operator")?;
        self.say(&format!(
            "a made-up shop and bank on this machine: {} and {}",
            self.stage.site.origin(SHOP),
            self.stage.site.origin(BANK)
        ))?;
        let seconds = self.person.deadline_seconds();
        self.stage.set_up(seconds).await?;
        self.say(&format!(
            "countersign setup: keys, and a profile that lists these two sites; a window waits {seconds} s for its answer"
        ))?;
        self.stage.browse().await?;
        self.say("countersign browser: a profile of its own, in which the person has just logged in to both sites")?;
        self.chapter("The assistant")?;
        let tools = self.stage.connect().await?.tools().await?;
        self.say(&format!(
            "countersign serve, over standard input and output: {tools} tools"
        ))?;
        let shop = format!("{}/", self.stage.site.origin(SHOP));
        let opened = self.call("open_tab", json!({"url": shop})).await?;
        let tab = opened.server("tab");
        tab.as_str()
            .map(str::to_owned)
            .ok_or_else(|| Broken::new("open_tab gave no tab"))
    }

    /// Look, search, choose, and into the basket.
    async fn shop(&mut self, tab: &str) -> Result<(), Broken> {
        let seen = self.look(tab, "the shop").await?;
        if !seen.lines().any(|line| line.contains("Anna Berger")) {
            return Err(Broken::new("the shop does not know its customer"));
        }
        self.fill(&seen, "searchbox \"Search the shop\"", "linen")
            .await?;
        self.press(tab, "button \"Search\"").await?;
        self.press(tab, "link \"Linen shirt 38.60 €\"").await?;
        let seen = self.look(tab, "the product").await?;
        self.choose(&seen, "combobox \"Size\"", "M").await?;
        self.press(tab, "button \"Add to basket\"").await?;
        self.count("one line in the basket", |counters| counters.baskets == 1)
    }

    /// The address.
    async fn check_out(&mut self, tab: &str) -> Result<(), Broken> {
        self.press(tab, "link \"Go to checkout\"").await?;
        let seen = self.look(tab, "the address form").await?;
        for (field, text) in [
            ("Full name", "Anna Berger"),
            ("Street and number", "Mill Lane 2"),
            ("Postcode", "10115"),
            ("City", "Berlin"),
        ] {
            self.fill(&seen, &format!("textbox \"{field}\""), text)
                .await?;
        }
        self.choose(&seen, "combobox \"Country\"", "Germany")
            .await?;
        self.press(tab, "button \"Continue to payment\"").await?;
        let seen = self.look(tab, "the payment form").await?;
        for (field, text) in [
            ("Name on card", "Anna Berger"),
            ("Card number", CARD),
            ("Expiry (MM/YY)", "12/30"),
            ("Security code", CODE),
        ] {
            self.fill(&seen, &format!("textbox \"{field}\""), text)
                .await?;
        }
        let seen = self
            .look(tab, "the payment form, filled in and masked")
            .await?;
        let told = seen.body.to_string();
        if told.contains(CARD) || told.contains("4111111111111111") {
            return Err(Broken::new("the card number came back"));
        }
        self.say("the card's number and code are masked in text and picture")
    }

    /// The payment is locked, and nobody is there.
    async fn nobody_answers(&mut self, tab: &str) -> Result<(), Broken> {
        self.chapter("A payment that nobody answers")?;
        if self.person == Person::There {
            self.say("a window comes up: please leave it alone this once")?;
        }
        let said = self.pay(tab, Answer::None).await?;
        if said.code() != "L402" {
            return Err(Broken::new(format!(
                "the payment was to be refused as unanswered (L402), not {:?}",
                said.code()
            )));
        }
        self.say("refused: L402, nobody answered the question")?;
        self.count("no payment", |counters| counters.payments == 0)
    }

    /// The same payment, and a person who allows it.
    async fn a_person_allows(&mut self, tab: &str) -> Result<(), Broken> {
        self.chapter("The same payment, allowed by a person")?;
        match self.person {
            Person::There => self.say("a window comes up: read it, and choose Allow")?,
            Person::StandIn => self
                .say("nobody is at this screen: its pointer is moved to Allow and pressed there")?,
        }
        let said = self.pay(tab, Answer::Allow).await?.done("click")?;
        if said.server("allowed_by") != "person" {
            return Err(Broken::new(
                "the reply does not say that a person allowed it",
            ));
        }
        self.say("done, allowed by a person")?;
        self.count("exactly one payment", |counters| counters.payments == 1)?;
        let seen = self.look(tab, "the shop's thanks").await?;
        if seen.lines().any(|line| line.contains("LL-2041")) {
            Ok(())
        } else {
            Err(Broken::new("the shop names no order"))
        }
    }

    /// A link of a listed site that leads to a site nobody listed.
    async fn off_the_list(&mut self, tab: &str) -> Result<(), Broken> {
        self.chapter("A way off the list")?;
        let seen = self.see(tab).await?;
        let mark = seen.mark("link \"Track a parcel\"")?;
        let arguments = json!({"snapshot_id": seen.server("snapshot_id"), "mark": mark});
        let said = self.stage.client()?.call("click", arguments).await?;
        let stopped = said.code() == "S306"
            || said.body["server"]["events"]
                .to_string()
                .contains("departure_stopped");
        if !stopped {
            return Err(Broken::new(format!(
                "the redirect was to be stopped: {}",
                said.body
            )));
        }
        self.say(&format!("the link redirects to {OFF_LIST}: stopped"))?;
        let address = format!("{}/parcel-prize", self.stage.site.origin(OFF_LIST));
        let said = self
            .stage
            .client()?
            .call("open_tab", json!({"url": address}))
            .await?;
        if said.code() != "S301" {
            return Err(Broken::new(format!(
                "{OFF_LIST} was to be refused as S301: {}",
                said.body
            )));
        }
        self.say("asked for by its address: refused, S301")?;
        self.count(&format!("no request reached {OFF_LIST}"), |counters| {
            counters.offlist == 0 && counters.payments == 1
        })
    }

    /// What the operator finds afterwards.
    async fn journal(&mut self) -> Result<(), Broken> {
        let client = self.stage.client()?;
        let receipt = client
            .last_receipt()
            .ok_or_else(|| Broken::new("no reply had a receipt"))?
            .to_owned();
        self.stage.disconnect().await?;
        self.chapter("The journal")?;
        let list = self.stage.audit(&["list"]).await?;
        let path = self.folder.join("journal.txt");
        fs::write(&path, &list)
            .map_err(|error| Broken::new("the listing cannot be written").because(error))?;
        let count = list.lines().count();
        let words = [" asked ", " answered ", " refused "];
        for line in list
            .lines()
            .filter(|line| words.iter().any(|word| line.contains(word)))
        {
            self.say(line)?;
        }
        self.say(&format!(
            "countersign audit list: {count} entries, all of them in journal.txt"
        ))?;
        let verified = self.stage.audit(&["verify", "--receipt", &receipt]).await?;
        self.say("countersign audit verify, with the last reply's receipt:")?;
        for line in verified.lines() {
            self.say(&format!("    {line}"))?;
        }
        if list.contains(CARD) || list.contains("4111111111111111") {
            return Err(Broken::new("the card number is in the journal"));
        }
        writeln!(
            self.out,
            "\nPictures and listing: {}",
            self.folder.display()
        )
        .map_err(unsaid)
    }

    // ---- single steps -------------------------------------------------------------------------------------------

    /// A call that has to be done.
    async fn call(
        &mut self,
        tool: &'static str,
        arguments: serde_json::Value,
    ) -> Result<Said, Broken> {
        self.stage.client()?.call(tool, arguments).await?.done(tool)
    }

    /// Observes without a picture.
    async fn see(&mut self, tab: &str) -> Result<Said, Broken> {
        let loaded = json!({"tab": tab, "loaded": true});
        self.call("wait_for", loaded).await?;
        self.call("observe", json!({"tab": tab, "image": false}))
            .await
    }

    /// Observes, and keeps the picture with its marks.
    async fn look(&mut self, tab: &str, what: &str) -> Result<Said, Broken> {
        self.call("wait_for", json!({"tab": tab, "loaded": true}))
            .await?;
        let seen = self.call("observe", json!({"tab": tab})).await?;
        let picture = seen
            .picture
            .as_ref()
            .ok_or_else(|| Broken::new(format!("no picture of {what}")))?;
        let (name, path) = self.next_picture(what);
        fs::write(path, picture)
            .map_err(|error| Broken::new("a picture cannot be written").because(error))?;
        self.say(&format!(
            "observe {what}: {} marks, {name}",
            seen.server("marks")
        ))?;
        Ok(seen)
    }

    fn next_picture(&mut self, what: &str) -> (String, PathBuf) {
        self.pictures += 1;
        let words: String = what
            .trim_start_matches("the ")
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        let name = format!("{:02}-{}.png", self.pictures, words.replace("--", "-"));
        let path = self.folder.join(&name);
        (name, path)
    }

    async fn fill(&mut self, seen: &Said, field: &str, text: &str) -> Result<(), Broken> {
        let mark = seen.mark(field)?;
        let arguments =
            json!({"snapshot_id": seen.server("snapshot_id"), "mark": mark, "text": text});
        self.call("fill", arguments).await?;
        self.say(&format!("fill [{mark}] {field}"))
    }

    async fn choose(&mut self, seen: &Said, field: &str, option: &str) -> Result<(), Broken> {
        let mark = seen.mark(field)?;
        let arguments =
            json!({"snapshot_id": seen.server("snapshot_id"), "mark": mark, "options": [option]});
        self.call("select_option", arguments).await?;
        self.say(&format!("choose [{mark}] {field}: {option}"))
    }

    /// Looks for a control, further down the page where it is not in sight.
    async fn find(&mut self, tab: &str, control: &str) -> Result<(Said, u64), Broken> {
        for _ in 0..3 {
            let seen = self.see(tab).await?;
            if let Ok(mark) = seen.mark(control) {
                return Ok((seen, mark));
            }
            self.call("scroll", json!({"tab": tab, "direction": "down"}))
                .await?;
            self.say("scroll down")?;
        }
        let seen = self.see(tab).await?;
        let mark = seen.mark(control)?;
        Ok((seen, mark))
    }

    /// Looks for a control and clicks it.
    async fn press(&mut self, tab: &str, control: &str) -> Result<(), Broken> {
        let (seen, mark) = self.find(tab, control).await?;
        let arguments = json!({"snapshot_id": seen.server("snapshot_id"), "mark": mark});
        self.call("click", arguments).await?;
        self.say(&format!("click [{mark}] {control}"))
    }

    /// Clicks the button that pays, with somebody or nobody at the window.
    async fn pay(&mut self, tab: &str, answer: Answer) -> Result<Said, Broken> {
        let (seen, mark) = self.find(tab, "button \"Pay 42.50").await?;
        self.say(&format!(
            "click [{mark}] button \"Pay 42.50 €\": locked, so a person is asked"
        ))?;
        let arguments = json!({"snapshot_id": seen.server("snapshot_id"), "mark": mark});
        let (person, folder_picture) = (self.person, self.next_picture(answer.picture()));
        let call = self.stage.client()?.call("click", arguments);
        let at_the_screen = async {
            let window = person.sees_window().await?;
            let pictured = person.picture(window.as_deref(), &folder_picture.1).await;
            if answer == Answer::Allow {
                person.allows(window.as_deref()).await?;
            }
            Ok::<bool, Broken>(pictured)
        };
        let (said, pictured) = {
            tokio::pin!(call);
            tokio::select! {
                said = &mut call => (said?, None),
                pictured = at_the_screen => {
                    let pictured = pictured?;
                    (call.await?, Some(pictured))
                }
            }
        };
        match pictured {
            Some(true) => self.say(&format!("the window, {}", folder_picture.0))?,
            Some(false) => self.pictures -= 1,
            None => return Err(Broken::new(format!("no window came up: {}", said.body))),
        }
        Ok(said)
    }

    fn count(&mut self, what: &str, holds: impl Fn(&Counters) -> bool) -> Result<(), Broken> {
        let counters = self.stage.site.counters();
        if holds(&counters) {
            self.say(&format!("counted at the site: {what}"))
        } else {
            Err(Broken::new(format!(
                "the site was to count {what}; it counted {counters:?}"
            )))
        }
    }

    fn chapter(&mut self, title: &str) -> Result<(), Broken> {
        writeln!(self.out, "\n{title}").map_err(unsaid)
    }

    fn say(&mut self, line: &str) -> Result<(), Broken> {
        writeln!(self.out, "  {line}")
            .and_then(|()| self.out.flush())
            .map_err(unsaid)
    }
}

/// What is done with the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    None,
    Allow,
}

impl Answer {
    const fn picture(self) -> &'static str {
        match self {
            Self::None => "the window unanswered",
            Self::Allow => "the window allowed",
        }
    }
}

fn unsaid(error: std::io::Error) -> Broken {
    Broken::new("the story cannot be told").because(error)
}
