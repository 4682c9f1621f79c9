//! What each command does: a call or two, and what is shown of the replies.

use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use serde_json::{Map, Value, json};

use super::command::{self, Command, From, Wait};
use super::ears::{Heard, Stop};
use super::place::{self, Heading, Place};
use super::talk;
use super::{Shell, Told, Trouble};
use crate::journal::Closing;

/// The most replies that one command reads through.
const REPLIES: usize = 12;

/// A stretch of lines.
#[derive(Debug, Clone, Copy)]
struct Range {
    from: usize,
    /// The last one; none is the end of the page.
    last: Option<usize>,
}

impl Range {
    /// How many of the lines that begin at `from` are in it.
    fn of(self, from: usize, lines: Vec<String>) -> Vec<String> {
        let most = self
            .last
            .map_or(usize::MAX, |last| (last + 1).saturating_sub(from));
        lines.into_iter().take(most).collect()
    }

    fn goes_on_at(self, cursor: Option<usize>) -> Option<usize> {
        cursor.filter(|cursor| self.last.is_none_or(|last| *cursor <= last))
    }
}

impl Shell {
    pub(super) async fn perform(&mut self, command: Command) -> Result<(), Trouble> {
        match command {
            Command::Open(url) => self.open(&url).await,
            Command::Go(to) => {
                let arguments = match to.as_str() {
                    "back" | "forward" | "reload" => json!({"tab": self.tab()?, "to": to}),
                    url => json!({"tab": self.tab()?, "url": url}),
                };
                self.act("navigate", arguments).await
            }
            Command::Tabs => self.list_tabs().await,
            Command::Tab(tab) => self.work_in(tab).await,
            Command::Close(tab) => {
                let tab = tab.map_or_else(|| self.tab(), Ok)?;
                self.act("close_tab", json!({"tab": tab})).await?;
                self.forget(&tab);
                Ok(())
            }
            Command::Look { picture, file } => self.look(picture, file.as_deref()).await,
            Command::Ls => self.list().await,
            Command::Cd(to) => self.enter(&to).await,
            Command::Pwd => self.say_where().await,
            Command::Tree(depth) => self.tree(depth).await,
            Command::Cat(from) => self.cat(from).await,
            Command::Grep(words) => self.grep(&words).await,
            Command::Find { role, text } => self.find(role, text).await,
            Command::Links(from) => self.elements("links", &from).await,
            Command::Fields(from) => self.elements("fields", &from).await,
            Command::Table(from) => self.table(from).await,
            Command::Click(mark) => self.act_on("click", mark, json!({})).await,
            Command::Type(mark, text) => {
                // Whether there is anything to type into is known before the text is.
                self.seen()?;
                let text = match text {
                    Some(text) => text,
                    None => self.secret().await?,
                };
                self.act_on("fill", mark, json!({"text": text})).await
            }
            Command::Choose(mark, options) => {
                self.act_on("select_option", mark, json!({"options": options}))
                    .await
            }
            Command::Key(key, Some(mark)) => {
                self.act_on("press_key", mark, json!({"key": key})).await
            }
            Command::Key(key, None) => {
                let arguments = json!({"snapshot_id": self.seen()?, "key": key});
                self.act("press_key", arguments).await
            }
            Command::Scroll {
                direction,
                screens,
                mark,
            } => {
                let mut arguments = match mark {
                    Some(mark) => {
                        json!({"snapshot_id": self.seen()?, "mark": mark, "direction": direction})
                    }
                    None => json!({"tab": self.tab()?, "direction": direction}),
                };
                if let (Some(screens), Some(arguments)) = (screens, arguments.as_object_mut()) {
                    arguments.insert("screens".to_owned(), json!(screens));
                }
                // What came into view is what a person scrolls for.
                let mut told = self.call("scroll", arguments).await?;
                self.talk.pages(&told.lines("text"))?;
                told.page.remove("text");
                self.show_changes(&told)
            }
            Command::Wait(wanted, seconds) => self.wait(&wanted, seconds).await,
            Command::Status => {
                let told = self.call("status", json!({})).await?;
                for (key, value) in &told.server {
                    self.talk.say(&talk::pair(key, value))?;
                }
                Ok(())
            }
            Command::Help(about) => {
                let lines = command::help(about.as_deref()).map_err(Trouble::Usage)?;
                // Ours alone, so its columns may stand.
                lines
                    .iter()
                    .try_for_each(|line| writeln!(io::stdout(), "{line}"))?;
                Ok(())
            }
            Command::Quit => Err(Trouble::End(Closing::Operator)),
        }
    }

    // ---- tabs and snapshots -------------------------------------------------------------------------------------------

    fn tab(&self) -> Result<String, Trouble> {
        let missing = || Trouble::Missing("no tab is open: open URL opens one".to_owned());
        self.tab.clone().ok_or_else(missing)
    }

    /// The snapshot that marks are named in.
    fn seen(&self) -> Result<String, Trouble> {
        let tab = self.tab()?;
        let seen = self.tabs.get(&tab).and_then(|tab| tab.snapshot.clone());
        seen.ok_or_else(|| {
            Trouble::Missing("look first: a mark is named as a look showed it".to_owned())
        })
    }

    /// The newest snapshot; where there is none, the page is looked at.
    async fn snapshot(&mut self) -> Result<String, Trouble> {
        if let Ok(seen) = self.seen() {
            return Ok(seen);
        }
        let arguments = json!({"tab": self.tab()?, "image": false});
        self.call("observe", arguments).await?;
        self.seen()
    }

    async fn open(&mut self, url: &str) -> Result<(), Trouble> {
        let told = self.call("open_tab", json!({"url": url})).await?;
        if let Some(tab) = told.server.get("tab").and_then(Value::as_str) {
            self.tab = Some(tab.to_owned());
        }
        self.show_changes(&told)
    }

    async fn list_tabs(&mut self) -> Result<(), Trouble> {
        let told = self.call("list_tabs", json!({})).await?;
        let tabs = told.server.get("tabs").and_then(Value::as_array);
        let mut none = true;
        for tab in tabs.into_iter().flatten().filter_map(Value::as_object) {
            none = false;
            let id = tab.get("tab").and_then(Value::as_str).unwrap_or_default();
            let origin = tab
                .get("origin")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let is = |key: &str| tab.get(key) == Some(&Value::Bool(true));
            let url = told
                .page
                .get(id)
                .and_then(|page| page.get("url"))
                .and_then(Value::as_str);
            let here = if self.tab.as_deref() == Some(id) {
                "*"
            } else {
                " "
            };
            let loading = if is("loading") { " (loading)" } else { "" };
            let unread = if is("readable") {
                ""
            } else {
                " (not to be read)"
            };
            self.talk.after(
                &format!("{here} {id} "),
                &format!("{}{loading}{unread}", url.unwrap_or(origin)),
            )?;
        }
        if none {
            self.talk.say("no tab is open")?;
        }
        Ok(())
    }

    async fn work_in(&mut self, id: String) -> Result<(), Trouble> {
        let told = self.call("list_tabs", json!({})).await?;
        let tabs = told.server.get("tabs").and_then(Value::as_array);
        let found = tabs
            .into_iter()
            .flatten()
            .find(|tab| tab.get("tab").and_then(Value::as_str) == Some(&id));
        let Some(found) = found else {
            return Err(Trouble::Missing(
                "there is no such tab; tabs lists what is there".to_owned(),
            ));
        };
        let known = self.tabs.entry(id.clone()).or_default();
        if let Some(origin) = found.get("origin").and_then(Value::as_str) {
            known.origin = origin.to_owned();
        }
        self.tab = Some(id);
        Ok(())
    }

    // ---- acting -------------------------------------------------------------------------------------------------------

    async fn act_on(&mut self, tool: &str, mark: u32, mut arguments: Value) -> Result<(), Trouble> {
        let snapshot = self.seen()?;
        if let Some(arguments) = arguments.as_object_mut() {
            arguments.insert("snapshot_id".to_owned(), json!(snapshot));
            arguments.insert("mark".to_owned(), json!(mark));
        }
        self.act(tool, arguments).await
    }

    async fn act(&mut self, tool: &str, arguments: Value) -> Result<(), Trouble> {
        let told = self.call(tool, arguments).await?;
        self.show_changes(&told)
    }

    /// A text that is typed without being shown.
    async fn secret(&mut self) -> Result<String, Trouble> {
        if !self.person {
            return Err(Trouble::Usage(
                "give the text: only a terminal can ask for it".to_owned(),
            ));
        }
        let mut withdrawn = false;
        loop {
            match self.ears.secret().await {
                Ok(_) if withdrawn => return Err(Trouble::Withdrawn),
                Ok(Heard::Line(text)) => return Ok(text),
                Ok(Heard::Unfit(why)) => return Err(Trouble::Usage(why.to_owned())),
                Ok(Heard::End) => return Err(Trouble::End(Closing::EndOfInput)),
                Err(Stop::Session) => return Err(Trouble::End(Closing::Signal)),
                Err(Stop::Call) => {
                    withdrawn = true;
                    self.talk.say("withdrawn; press Enter to go on")?;
                }
            }
        }
    }

    /// Shows what an action left: what the page says now that it did not say before.
    pub(super) fn show_changes(&self, told: &Told) -> Result<(), Trouble> {
        self.title(&told.page)?;
        if let Some(value) = told.page.get("field").and_then(Value::as_str) {
            self.talk.after("now holds ", value)?;
        }
        for (list, sign) in [
            ("changed", "~ "),
            ("added", "+ "),
            ("removed", "- "),
            ("dialogs", "dialog "),
        ] {
            for line in told.lines(list) {
                self.talk.after(sign, &line)?;
            }
        }
        let options = told.page.get("options").and_then(Value::as_array);
        for option in options.into_iter().flatten() {
            let text = |key: &str| option.get(key).and_then(Value::as_str).unwrap_or_default();
            self.talk.after(
                "option ",
                &format!("{} value {}", text("label"), text("value")),
            )?;
        }
        let said = talk::statement(&told.server, &["marks", "cursor", "lines_left_out"]);
        if !said.is_empty() {
            self.talk.say(&said)?;
        }
        if told.page.contains_key("text") {
            self.talk
                .say("the page is another one now: ls, look and cat show it")?;
        }
        Ok(())
    }

    fn title(&self, page: &Map<String, Value>) -> io::Result<()> {
        let text = |key: &str| page.get(key).and_then(Value::as_str);
        match (text("title"), text("url")) {
            (None, None) => Ok(()),
            (Some(title), None) => self.talk.after("title ", title),
            (None, Some(url)) => self.talk.after("at ", url),
            (Some(title), Some(url)) => self.talk.after("title ", &format!("{title} at {url}")),
        }
    }

    // ---- looking ------------------------------------------------------------------------------------------------------

    async fn look(&mut self, picture: bool, file: Option<&str>) -> Result<(), Trouble> {
        let told = self
            .call("observe", json!({"tab": self.tab()?, "image": picture}))
            .await?;
        self.title(&told.page)?;
        self.talk.pages(&told.lines("text"))?;
        self.say_look(&told)?;
        let Some(image) = told.image else {
            return Ok(());
        };
        let image = base64::engine::general_purpose::STANDARD
            .decode(image)
            .map_err(|_| Trouble::Missing("the picture cannot be decoded".to_owned()))?;
        let path = match file {
            Some(file) => PathBuf::from(file),
            None => self.folder()?.join(format!("{}.png", self.seen()?)),
        };
        write_new(&path, &image)?;
        self.talk
            .say(&format!("the picture is {}", path.display()))?;
        Ok(())
    }

    /// What the server says of a look, and where its text goes on.
    fn say_look(&self, told: &Told) -> io::Result<()> {
        let said = talk::statement(&told.server, &["receipt", "cursor", "lines_left_out"]);
        self.talk.say(&said)?;
        match (told.number("lines_left_out"), told.number("cursor")) {
            (Some(left), Some(cursor)) => {
                self.talk.say(&format!("{left} lines more: cat :{cursor}"))
            }
            (Some(left), None) => self.talk.say(&format!("{left} lines more: cat")),
            (None, Some(_) | None) => Ok(()),
        }
    }

    async fn list(&mut self) -> Result<(), Trouble> {
        let looked = self
            .call("observe", json!({"tab": self.tab()?, "image": false}))
            .await?;
        let told = |line: &String| {
            place::in_sight(line) && (place::is_heading(line) || place::has_mark(line))
        };
        let Some(here) = self.here().await? else {
            let lines: Vec<String> = looked.lines("text").into_iter().filter(told).collect();
            self.talk.pages(&lines)?;
            self.say_look(&looked)?;
            return Ok(());
        };
        let (lines, more) = self.lines(here).await?;
        let all = lines.len();
        let lines: Vec<String> = lines.into_iter().filter(told).collect();
        self.talk.pages(&lines)?;
        self.talk.say(&format!(
            "{} of {all} lines; cat shows all of them",
            lines.len()
        ))?;
        self.say_more(more)?;
        Ok(())
    }

    // ---- the outline --------------------------------------------------------------------------------------------------

    /// The headings of the newest snapshot.
    async fn headings(&mut self) -> Result<(Vec<Heading>, String), Trouble> {
        let snapshot = self.snapshot().await?;
        let (mut lines, mut cursor) = (Vec::new(), 0);
        for _ in 0..REPLIES {
            let arguments =
                json!({"snapshot_id": snapshot, "op": "outline", "depth": 6, "cursor": cursor});
            let told = self.call("read", arguments).await?;
            lines.extend(told.lines("text"));
            match told.number("cursor") {
                Some(next) if next > cursor => cursor = next,
                Some(_) | None => break,
            }
        }
        Ok((place::headings(&lines), snapshot))
    }

    /// The lines of the heading that was entered, in the newest snapshot; none is the whole page.
    async fn here(&mut self) -> Result<Option<Range>, Trouble> {
        let snapshot = self.snapshot().await?;
        let Some(place) = self.place() else {
            return Ok(None);
        };
        let place = if place.snapshot == snapshot {
            Some(place)
        } else {
            let (all, snapshot) = self.headings().await?;
            place.again(&all, &snapshot)
        };
        if place.is_none() {
            self.talk
                .say("the heading is not there any more: this is the whole page")?;
        }
        self.stand(place.clone());
        Ok(place.map(|place| Range {
            from: place.heading.line,
            last: Some(place.heading.last),
        }))
    }

    fn place(&self) -> Option<Place> {
        let tab = self.tab.as_ref()?;
        self.tabs.get(tab)?.place.clone()
    }

    fn stand(&mut self, place: Option<Place>) {
        let tab = self.tab.as_ref().and_then(|tab| self.tabs.get_mut(tab));
        if let Some(tab) = tab {
            tab.place = place;
        }
    }

    async fn enter(&mut self, to: &str) -> Result<(), Trouble> {
        self.tab()?;
        if to == "/" {
            self.stand(None);
            return Ok(());
        }
        self.here().await?;
        let here = self.place();
        if to == "." {
            return Ok(());
        }
        let (all, snapshot) = self.headings().await?;
        let within = here.as_ref().map(|here| &here.heading);
        if to == ".." {
            let up = within.and_then(|within| {
                let around = |one: &&Heading| one.line < within.line && one.last >= within.last;
                all.iter().rev().find(around)
            });
            self.stand(up.map(|up| Place::at(up, &all, &snapshot)));
            return Ok(());
        }
        match place::meant(&all, to, within) {
            Some(heading) => {
                self.stand(Some(Place::at(heading, &all, &snapshot)));
                Ok(())
            }
            None => Err(Trouble::Missing(
                "there is no such heading; tree lists them".to_owned(),
            )),
        }
    }

    async fn say_where(&mut self) -> Result<(), Trouble> {
        let here = self.here().await?;
        let (tab, snapshot) = (self.tab()?, self.snapshot().await?);
        let url = self
            .tabs
            .get(&tab)
            .map(|tab| tab.url.clone())
            .unwrap_or_default();
        self.talk.page(&url)?;
        if let Some(place) = self.place() {
            for words in &place.heading.path {
                self.talk
                    .after("/ ", &crate::snapshot::tree::quote(words, 160))?;
            }
        }
        let lines = match here {
            Some(Range {
                from,
                last: Some(last),
            }) => format!("lines {from} to {last}"),
            Some(Range { last: None, .. }) | None => "the whole page".to_owned(),
        };
        self.talk.say(&format!("{tab} {snapshot}, {lines}"))?;
        Ok(())
    }

    async fn tree(&mut self, depth: u8) -> Result<(), Trouble> {
        let here = self.here().await?;
        let (all, _) = self.headings().await?;
        let inside = |one: &&Heading| {
            here.is_none_or(|here| {
                one.line >= here.from && here.last.is_none_or(|last| one.last <= last)
            })
        };
        let shown: Vec<&Heading> = all.iter().filter(inside).collect();
        let base = shown.first().map_or(1, |first| first.path.len());
        let width = shown.last().map_or(1, |last| last.line.to_string().len());
        for one in &shown {
            let below = one.path.len().saturating_sub(base);
            if below < usize::from(depth) {
                let line = format!(":{}", one.line);
                let indent = 2 * below;
                let ours = format!("{line:>width$} {:indent$}", "", width = width + 1);
                self.talk.after(
                    &ours,
                    &format!("{} ({} lines)", one.told, one.last - one.line),
                )?;
            }
        }
        if shown.is_empty() {
            self.talk.say("no headings; cat shows the text")?;
        }
        Ok(())
    }

    // ---- reading ------------------------------------------------------------------------------------------------------

    fn say_more(&self, more: Option<usize>) -> io::Result<()> {
        more.map_or(Ok(()), |line| self.talk.say(&format!("more: cat :{line}")))
    }

    /// One reply of `read`.
    async fn read(&mut self, op: &str, cursor: usize) -> Result<Told, Trouble> {
        let snapshot = self.snapshot().await?;
        self.call(
            "read",
            json!({"snapshot_id": snapshot, "op": op, "cursor": cursor}),
        )
        .await
    }

    /// The lines of a stretch, as far as the replies reach that one command reads, and where they go on.
    async fn lines(&mut self, range: Range) -> Result<(Vec<String>, Option<usize>), Trouble> {
        let (mut out, mut cursor) = (Vec::new(), range.from);
        for _ in 0..REPLIES {
            let told = self.read("text", cursor).await?;
            out.extend(range.of(cursor, told.lines("text")));
            match range.goes_on_at(told.number("cursor")) {
                Some(next) if next > cursor => cursor = next,
                Some(_) | None => return Ok((out, None)),
            }
        }
        Ok((out, Some(cursor)))
    }

    async fn cat(&mut self, from: From) -> Result<(), Trouble> {
        let whole = Range {
            from: 0,
            last: None,
        };
        let here = self.here().await?.unwrap_or(whole);
        let from = match from {
            From::Mark(mark) => return self.cat_at(mark).await,
            From::Here => here.from,
            From::Line(line) => line,
        };
        let inside = from >= here.from && here.last.is_none_or(|last| from <= last);
        let range = if inside { here } else { whole };
        let told = self.read("text", from).await?;
        let lines = range.of(from, told.lines("text"));
        self.talk.pages(&lines)?;
        if lines.is_empty() {
            return Err(Trouble::NotMet("nothing stands there"));
        }
        self.say_more(range.goes_on_at(told.number("cursor")))?;
        Ok(())
    }

    /// From the line of a mark to the next heading.
    async fn cat_at(&mut self, mark: u32) -> Result<(), Trouble> {
        let snapshot = self.snapshot().await?;
        let told = self
            .call(
                "read",
                json!({"snapshot_id": snapshot, "op": "text", "at": mark}),
            )
            .await?;
        let lines = told.lines("text");
        let rest = lines.iter().skip(1);
        let most = 1 + rest.take_while(|line| !place::is_heading(line)).count();
        let all = lines.len();
        let lines: Vec<String> = lines.into_iter().take(most).collect();
        self.talk.pages(&lines)?;
        if most >= all {
            self.say_more(told.number("cursor"))?;
        }
        Ok(())
    }

    async fn grep(&mut self, words: &str) -> Result<(), Trouble> {
        let Some(here) = self.here().await? else {
            return self.find(None, Some(words.to_owned())).await;
        };
        let (lines, more) = self.lines(here).await?;
        let found: Vec<String> = lines
            .into_iter()
            .filter(|line| place::says(line, words))
            .collect();
        self.talk.pages(&found)?;
        if let Some(more) = more {
            self.talk
                .say(&format!("not searched from line {more} on"))?;
        }
        if found.is_empty() {
            return Err(Trouble::NotMet(
                "nothing found in this place; cd / goes to the whole page",
            ));
        }
        Ok(())
    }

    async fn find(&mut self, role: Option<String>, text: Option<String>) -> Result<(), Trouble> {
        let mut arguments = Map::new();
        arguments.insert("snapshot_id".to_owned(), json!(self.snapshot().await?));
        for (name, given) in [("role", role), ("text", text)] {
            if let Some(given) = given {
                arguments.insert(name.to_owned(), json!(given));
            }
        }
        let told = self.call("find", Value::Object(arguments)).await?;
        let lines = told.lines("text");
        self.talk.pages(&lines)?;
        if lines.is_empty() {
            return Err(Trouble::NotMet("nothing found"));
        }
        let found = told.number("found").unwrap_or(lines.len());
        if found > lines.len() {
            self.talk
                .say(&format!("{} of {found}; more words find less", lines.len()))?;
        }
        Ok(())
    }

    /// Links or fields of the place. What lies after it is counted, and so left out.
    async fn elements(&mut self, op: &str, from: &From) -> Result<(), Trouble> {
        let here = self.here().await?.unwrap_or(Range {
            from: 0,
            last: None,
        });
        let from = match from {
            From::Line(line) => *line,
            From::Here | From::Mark(_) => here.from,
        };
        let told = self.read(op, from).await?;
        let found = told.number("found").unwrap_or_default();
        let after = match here.last {
            Some(last) if found > 0 => self
                .read(op, last + 1)
                .await?
                .number("found")
                .unwrap_or_default(),
            Some(_) | None => 0,
        };
        let here_alone = found.saturating_sub(after);
        let lines: Vec<String> = told.lines("text").into_iter().take(here_alone).collect();
        self.talk.pages(&lines)?;
        if lines.is_empty() {
            return Err(Trouble::NotMet("nothing found"));
        }
        if let Some(next) = here.goes_on_at(told.number("cursor"))
            && lines.len() < here_alone
        {
            self.talk.say(&format!(
                "{} lines of {here_alone}; more: {op} :{next}",
                lines.len()
            ))?;
        }
        Ok(())
    }

    async fn table(&mut self, from: From) -> Result<(), Trouble> {
        let here = self.here().await?.map_or(0, |here| here.from);
        let told = match from {
            From::Here => self.read("table", here).await?,
            From::Line(line) => self.read("table", line).await?,
            From::Mark(mark) => {
                let snapshot = self.snapshot().await?;
                self.call(
                    "read",
                    json!({"snapshot_id": snapshot, "op": "table", "at": mark}),
                )
                .await?
            }
        };
        let lines = told.lines("text");
        self.talk.pages(&lines)?;
        if lines.is_empty() {
            return Err(Trouble::NotMet("no table from here on"));
        }
        if let Some(next) = told.number("cursor") {
            self.talk.say(&format!(
                "{} rows of {}; more: table :{next}",
                lines.len(),
                told.number("found").unwrap_or_default()
            ))?;
        }
        Ok(())
    }

    async fn wait(&mut self, wanted: &Wait, seconds: Option<f64>) -> Result<(), Trouble> {
        let mut arguments = Map::new();
        arguments.insert("tab".to_owned(), json!(self.tab()?));
        let (key, value) = match wanted {
            Wait::Text(text) => ("text", json!(text)),
            Wait::Gone(text) => ("gone", json!(text)),
            Wait::Loaded => ("loaded", json!(true)),
        };
        arguments.insert(key.to_owned(), value);
        if let Some(seconds) = seconds {
            arguments.insert("timeout".to_owned(), json!(seconds));
        }
        let mut told = self.call("wait_for", Value::Object(arguments)).await?;
        let met = told.server.remove("met");
        told.server.remove("receipt");
        self.show_changes(&told)?;
        if met == Some(Value::Bool(true)) {
            Ok(())
        } else {
            Err(Trouble::NotMet("it did not come in that time"))
        }
    }
}

/// Writes a file that was not there before, for its owner alone.
fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(bytes)
}
