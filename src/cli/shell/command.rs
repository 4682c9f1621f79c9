//! A line as a command: words quoted as in a shell, and a table of what they may be.

use std::fmt::Write as _;

/// One command of the shell.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) name: &'static str,
    /// Its arguments, for people.
    pub(super) usage: &'static str,
    /// What it does.
    pub(super) what: &'static str,
}

const fn row(name: &'static str, usage: &'static str, what: &'static str) -> Row {
    Row { name, usage, what }
}

/// Every command, in the order in which help lists them.
pub(super) const TABLE: &[Row] = &[
    row(
        "open",
        "URL",
        "open an address of a listed site in a new tab",
    ),
    row("go", "URL|back|forward|reload", "send this tab somewhere"),
    row("tabs", "", "list the tabs of this session"),
    row("tab", "N", "work in another tab"),
    row("close", "[N]", "close this tab, or another"),
    row(
        "look",
        "[-i [FILE]]",
        "look at the page: its text with marks; -i writes the picture too, into FILE or a folder that goes with the shell",
    ),
    row("ls", "", "look, and list the headings and marks in sight"),
    row(
        "cd",
        "[HEADING|:LINE|..|/]",
        "go to what stands below a heading, by its words or its line; one up; to the whole page",
    ),
    row("pwd", "", "say which page, snapshot and heading this is"),
    row(
        "tree",
        "[DEPTH]",
        "list the headings, each with its line and how many lines stand below it",
    ),
    row(
        "cat",
        "[MARK|:LINE]",
        "show the text of this place, or from a mark or a line on",
    ),
    row(
        "grep",
        "WORDS",
        "list the lines of this place that have the words",
    ),
    row(
        "find",
        "[ROLE] WORDS|ROLE",
        "find elements in the whole page, such as: find button pay",
    ),
    row(
        "links",
        "[:LINE]",
        "list the links of this place and where they lead",
    ),
    row(
        "fields",
        "[:LINE]",
        "list the fields of this place and what they hold",
    ),
    row("table", "[MARK|:LINE]", "show the next table"),
    row("click", "MARK", "click an element"),
    row(
        "type",
        "MARK [TEXT]",
        "put text into a field; without TEXT, a terminal asks for it and does not show it",
    ),
    row("choose", "MARK OPTION...", "choose options of a list"),
    row(
        "key",
        "KEY [MARK]",
        "press a key, such as Enter or Control+a",
    ),
    row(
        "scroll",
        "up|down|left|right [SCREENS|in MARK]",
        "scroll the page, or the box around an element",
    ),
    row(
        "wait",
        "[-t SECONDS] WORDS|-g WORDS|-l",
        "wait until words are there, are gone (-g), or nothing loads any more (-l)",
    ),
    row("status", "", "say what this session may do"),
    row(
        "help",
        "[COMMAND]",
        "list the commands, or say what one does",
    ),
    row("quit", "", "end the session"),
];

/// A part of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum From {
    /// The place itself.
    Here,
    /// From an element on.
    Mark(u32),
    /// From a line on.
    Line(usize),
}

/// What is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wait {
    Text(String),
    Gone(String),
    Loaded,
}

/// A parsed line.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Command {
    Open(String),
    Go(String),
    Tabs,
    Tab(String),
    Close(Option<String>),
    Look {
        picture: bool,
        file: Option<String>,
    },
    Ls,
    Cd(String),
    Pwd,
    Tree(u8),
    Cat(From),
    Grep(String),
    Find {
        role: Option<String>,
        text: Option<String>,
    },
    Links(From),
    Fields(From),
    Table(From),
    Click(u32),
    Type(u32, Option<String>),
    Choose(u32, Vec<String>),
    Key(String, Option<u32>),
    Scroll {
        direction: String,
        screens: Option<u8>,
        mark: Option<u32>,
    },
    Wait(Wait, Option<f64>),
    Status,
    Help(Option<String>),
    Quit,
}

/// Roles by which `find` is told from words.
const ROLES: &[&str] = &[
    "button",
    "checkbox",
    "clickable",
    "combobox",
    "date",
    "disclosure",
    "gridcell",
    "label",
    "link",
    "listbox",
    "menu button",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "option",
    "password",
    "radio",
    "searchbox",
    "slider",
    "spinbutton",
    "switch",
    "tab",
    "textbox",
    "treeitem",
];

/// The words of a line, quoted as in a shell: `'as it is'`, `"with \" in it"`, `a\ space`. What follows a `#` at the
/// beginning of a word is left out.
pub(super) fn words(line: &str) -> Result<Vec<String>, String> {
    let mut out = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '\\') => match chars.next() {
                Some(next) => word.get_or_insert_default().push(next),
                None => return Err("a backslash at the end of the line".to_owned()),
            },
            (Some('"'), '\\') => match chars.next() {
                Some(next @ ('"' | '\\')) => word.get_or_insert_default().push(next),
                Some(next) => word.get_or_insert_default().extend(['\\', next]),
                None => {}
            },
            (None, '#') if word.is_none() => break,
            (None, _) if c.is_whitespace() => out.extend(word.take()),
            (Some(_) | None, _) => word.get_or_insert_default().push(c),
        }
    }
    if let Some(open) = quote {
        return Err(format!("a {open} without its end"));
    }
    out.extend(word);
    Ok(out)
}

/// A line as a command; `None` where it says nothing.
pub(super) fn parse(line: &str) -> Result<Option<Command>, String> {
    let words = words(line)?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let Some((name, rest)) = words.split_first() else {
        return Ok(None);
    };
    command(name, rest).map(Some)
}

fn command(name: &str, rest: &[&str]) -> Result<Command, String> {
    let wrong = || Err(usage(name));
    let joined = || rest.join(" ");
    Ok(match (name, rest) {
        ("open", [url]) => Command::Open((*url).to_owned()),
        ("go", [to]) => Command::Go((*to).to_owned()),
        ("back" | "forward" | "reload", []) => Command::Go(name.to_owned()),
        ("tabs", []) => Command::Tabs,
        ("tab", [tab]) => Command::Tab(tab_id(tab)),
        ("close", []) => Command::Close(None),
        ("close", [tab]) => Command::Close(Some(tab_id(tab))),
        ("look", []) => Command::Look {
            picture: false,
            file: None,
        },
        ("look", ["-i"]) => Command::Look {
            picture: true,
            file: None,
        },
        ("look", ["-i", file]) => Command::Look {
            picture: true,
            file: Some((*file).to_owned()),
        },
        ("ls", []) => Command::Ls,
        ("cd", []) => Command::Cd("/".to_owned()),
        ("cd", [..]) if !joined().trim().is_empty() => Command::Cd(joined()),
        ("pwd", []) => Command::Pwd,
        ("tree", []) => Command::Tree(6),
        ("tree", [depth]) => match depth.parse() {
            Ok(depth @ 1..=6) => Command::Tree(depth),
            Ok(_) | Err(_) => return Err("the depth is a number from 1 to 6".to_owned()),
        },
        ("cat", _) => Command::Cat(from(name, rest)?),
        ("table", _) => Command::Table(from(name, rest)?),
        ("links" | "fields", _) => match (name, from(name, rest)?) {
            (_, From::Mark(_)) => return wrong(),
            ("links", from) => Command::Links(from),
            (_, from) => Command::Fields(from),
        },
        ("grep", [_, ..]) if !joined().trim().is_empty() => Command::Grep(joined()),
        ("find", [role, words @ ..]) if ROLES.contains(&role.to_lowercase().as_str()) => {
            Command::Find {
                role: Some((*role).to_owned()),
                text: (!words.is_empty()).then(|| words.join(" ")),
            }
        }
        ("find", [_, ..]) if !joined().trim().is_empty() => Command::Find {
            role: None,
            text: Some(joined()),
        },
        ("click", [at]) => Command::Click(mark(at)?),
        ("type", [at]) => Command::Type(mark(at)?, None),
        ("type", [at, text @ ..]) => Command::Type(mark(at)?, Some(text.join(" "))),
        ("choose", [at, options @ ..]) if !options.is_empty() => Command::Choose(
            mark(at)?,
            options.iter().map(|option| (*option).to_owned()).collect(),
        ),
        ("key", [key]) => Command::Key((*key).to_owned(), None),
        ("key", [key, at]) => Command::Key((*key).to_owned(), Some(mark(at)?)),
        ("scroll", [direction @ ("up" | "down" | "left" | "right"), how @ ..]) => {
            let (screens, mark) = match how {
                [] => (None, None),
                ["in", at] => (None, Some(mark(at)?)),
                [screens] => (Some(screens.parse().map_err(|_| usage(name))?), None),
                [_, ..] => return wrong(),
            };
            Command::Scroll {
                direction: (*direction).to_owned(),
                screens,
                mark,
            }
        }
        ("wait", ["-t", seconds, rest @ ..]) => {
            let seconds = seconds.parse().map_err(|_| usage(name))?;
            Command::Wait(waited(rest)?, Some(seconds))
        }
        ("wait", rest) => Command::Wait(waited(rest)?, None),
        ("status", []) => Command::Status,
        ("help", []) => Command::Help(None),
        ("help", [about]) => Command::Help(Some((*about).to_owned())),
        ("quit" | "exit", []) => Command::Quit,
        (_, _) => return wrong(),
    })
}

fn waited(rest: &[&str]) -> Result<Wait, String> {
    Ok(match rest {
        ["-l"] => Wait::Loaded,
        ["-g", words @ ..] if !words.is_empty() => Wait::Gone(words.join(" ")),
        [first, ..] if !first.starts_with('-') => Wait::Text(rest.join(" ")),
        [] | [_, ..] => return Err(usage("wait")),
    })
}

fn from(name: &str, rest: &[&str]) -> Result<From, String> {
    Ok(match rest {
        [] => From::Here,
        [at] => match at.strip_prefix(':') {
            Some(line) => From::Line(line.parse().map_err(|_| usage(name))?),
            None => From::Mark(mark(at)?),
        },
        [_, ..] => return Err(usage(name)),
    })
}

/// `7` or `[7]`.
fn mark(word: &str) -> Result<u32, String> {
    let number = word
        .strip_prefix('[')
        .and_then(|word| word.strip_suffix(']'))
        .unwrap_or(word);
    let plain = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
    let number = plain.then(|| number.parse().ok()).flatten();
    number.ok_or_else(|| {
        format!("{word} is no mark: give the number that stands before an element, such as 7")
    })
}

/// `2` or `t2`.
fn tab_id(word: &str) -> String {
    if word.starts_with('t') {
        word.to_owned()
    } else {
        format!("t{word}")
    }
}

/// How a command is typed.
fn usage(name: &str) -> String {
    match TABLE.iter().find(|row| row.name == name) {
        Some(row) => format!("type it as: {} {}", row.name, row.usage)
            .trim_end()
            .to_owned(),
        None => format!("there is no command {name}; help lists them"),
    }
}

/// The list of commands, or what one does.
pub(super) fn help(about: Option<&str>) -> Result<Vec<String>, String> {
    let line = |row: &Row| {
        let mut line = format!("{} {}", row.name, row.usage).trim_end().to_owned();
        let gap = 38_usize.saturating_sub(line.len()).max(1);
        let _ = write!(line, "{:gap$}{}", "", row.what);
        line
    };
    match about {
        None => Ok(TABLE.iter().map(line).collect()),
        Some(name) => match TABLE.iter().find(|row| row.name == name) {
            Some(row) => Ok(vec![
                format!("{} {}", row.name, row.usage).trim_end().to_owned(),
                row.what.to_owned(),
            ]),
            None => Err(usage(name)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_are_quoted_as_in_a_shell() {
        for (line, want) in [
            ("type 3  two words ", vec!["type", "3", "two", "words"]),
            (r#"type 3 'a "b" \ c'"#, vec!["type", "3", r#"a "b" \ c"#]),
            (
                r#"type 3 "a 'b' \" \\ \n" "#,
                vec!["type", "3", r#"a 'b' " \ \n"#],
            ),
            (r"type 3 a\ b\'c ''", vec!["type", "3", "a b'c", ""]),
            ("# a note", vec![]),
            ("key '#' # a note", vec!["key", "#"]),
            ("go http://a.test/#part", vec!["go", "http://a.test/#part"]),
        ] {
            assert_eq!(words(line).unwrap(), want, "{line}");
        }
        for open in ["type 3 it's", "grep \"x", "grep x\\"] {
            assert!(words(open).is_err(), "{open}");
        }
    }

    #[test]
    fn each_command_is_parsed_and_what_is_none_says_how() {
        let parsed = |line| parse(line).unwrap().unwrap();
        assert_eq!(parsed("click [7]"), Command::Click(7));
        assert_eq!(
            parsed("find menu"),
            Command::Find {
                role: None,
                text: Some("menu".to_owned())
            }
        );
        assert_eq!(
            parsed("find Button pay now"),
            Command::Find {
                role: Some("Button".to_owned()),
                text: Some("pay now".to_owned())
            }
        );
        assert_eq!(parsed("cat :12"), Command::Cat(From::Line(12)));
        assert_eq!(parsed("cat 12"), Command::Cat(From::Mark(12)));
        assert_eq!(parsed("cd"), Command::Cd("/".to_owned()));
        assert_eq!(parsed("tab 2"), Command::Tab("t2".to_owned()));
        assert_eq!(
            parsed("wait -t 0 -g Loading now"),
            Command::Wait(Wait::Gone("Loading now".to_owned()), Some(0.0))
        );
        assert_eq!(
            parsed("scroll down in 4"),
            Command::Scroll {
                direction: "down".to_owned(),
                screens: None,
                mark: Some(4)
            }
        );
        assert_eq!(parsed("type 3 ''"), Command::Type(3, Some(String::new())));
        for line in [
            "click",
            "click x",
            "click 1 2",
            "click -1",
            "tree 9",
            "scroll sideways",
            "grep ''",
            "wait",
            "links 3",
            "look x",
            "rm -r /",
        ] {
            let why = parse(line).unwrap_err();
            assert!(!why.is_empty(), "{line}");
        }
        assert_eq!(parse("  # nothing"), Ok(None));
    }

    #[test]
    fn every_command_of_the_table_is_one() {
        for row in TABLE {
            let no_such = usage("no-such-command");
            let heard = parse(row.name).err().unwrap_or_default();
            assert!(
                !heard.starts_with("there is no command"),
                "{}: {no_such}",
                row.name
            );
        }
    }

    proptest! {
        #[test]
        fn no_line_breaks_the_parser(line in any::<String>()) {
            let _ = parse(&line);
        }

        #[test]
        fn a_quoted_text_arrives_as_it_is(text in "[^']*") {
            prop_assert_eq!(words(&format!("type 1 '{text}'")).unwrap(), vec!["type".to_owned(), "1".to_owned(), text]);
        }
    }
}
