//! Hears the person: a line when one is asked for, never ahead of it, and the signals that stop a call or end the session.

use std::io::{self, BufRead as _, Read as _};
use std::sync::mpsc;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The longest line that is taken, in bytes.
const LONGEST: u64 = 64 * 1024;

/// What is asked of the keyboard.
#[derive(Debug, Clone, Copy)]
enum Ask {
    Line,
    /// Without showing what is typed.
    Secret,
}

/// What came of it.
#[derive(Debug)]
pub(super) enum Heard {
    /// A line, without its end.
    Line(String),
    /// One that cannot be taken.
    Unfit(&'static str),
    /// There is no more.
    End,
}

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// End what is running and ask for the next command.
    Call,
    /// End the session.
    Session,
}

/// The keyboard and the signals.
#[derive(Debug)]
pub(super) struct Ears {
    asks: mpsc::Sender<Ask>,
    heard: UnboundedReceiver<Heard>,
    /// A line was asked for and has not come yet.
    asked: bool,
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
    person: bool,
}

impl Ears {
    /// Listens; `person` says that a terminal is at the other end, so that an interrupt stops a call and no more.
    pub(super) fn open(person: bool) -> io::Result<Self> {
        let (asks, asked) = mpsc::channel();
        let (hears, heard) = unbounded_channel();
        // Reading cannot be interrupted: it has a thread of its own, which is not waited for at the end.
        std::thread::Builder::new()
            .name("keyboard".to_owned())
            .spawn(move || listen(&asked, &hears))?;
        Ok(Self {
            asks,
            heard,
            asked: false,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            person,
        })
    }

    /// The next line, or the signal that came first. A line that was asked for before a signal still comes.
    pub(super) async fn line(&mut self) -> Result<Heard, Stop> {
        self.ask(Ask::Line).await
    }

    /// A line that is typed without being shown.
    pub(super) async fn secret(&mut self) -> Result<Heard, Stop> {
        self.ask(Ask::Secret).await
    }

    async fn ask(&mut self, what: Ask) -> Result<Heard, Stop> {
        if !self.asked {
            self.asked = true;
            if self.asks.send(what).is_err() {
                return Ok(Heard::End);
            }
        }
        tokio::select! {
            heard = self.heard.recv() => {
                self.asked = false;
                Ok(heard.unwrap_or(Heard::End))
            }
            stop = stop(&mut self.interrupt, &mut self.terminate, &mut self.hangup, self.person) => Err(stop),
        }
    }

    /// The next signal.
    pub(super) async fn stopped(&mut self) -> Stop {
        stop(
            &mut self.interrupt,
            &mut self.terminate,
            &mut self.hangup,
            self.person,
        )
        .await
    }
}

async fn stop(
    interrupt: &mut Signal,
    terminate: &mut Signal,
    hangup: &mut Signal,
    person: bool,
) -> Stop {
    tokio::select! {
        _ = interrupt.recv() => if person { Stop::Call } else { Stop::Session },
        _ = terminate.recv() => Stop::Session,
        _ = hangup.recv() => Stop::Session,
    }
}

fn listen(asked: &mpsc::Receiver<Ask>, hears: &UnboundedSender<Heard>) {
    for ask in asked {
        let heard = match ask {
            Ask::Line => read_line(&mut io::stdin().lock()),
            Ask::Secret => match rpassword::prompt_password("Text (it is not shown): ") {
                Ok(text) => Heard::Line(text),
                Err(_) => Heard::Unfit("the text could not be read from the terminal"),
            },
        };
        if hears.send(heard).is_err() {
            return;
        }
    }
}

fn read_line(input: &mut impl io::BufRead) -> Heard {
    let mut line = Vec::new();
    if input
        .by_ref()
        .take(LONGEST)
        .read_until(b'\n', &mut line)
        .is_err()
        || line.is_empty()
    {
        return Heard::End;
    }
    if line.last() != Some(&b'\n') && line.len() as u64 == LONGEST {
        let _ = input.skip_until(b'\n');
        return Heard::Unfit("the line is too long");
    }
    while matches!(line.last(), Some(b'\n' | b'\r')) {
        line.pop();
    }
    String::from_utf8(line).map_or(Heard::Unfit("the line is not UTF-8"), Heard::Line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unfit_line_does_not_become_two() {
        let long = "x".repeat(70_000);
        let all = format!("ls\r\n{long}\nquit");
        let mut input = io::Cursor::new([all.as_bytes(), b"\n\xff\n"].concat());
        assert!(matches!(read_line(&mut input), Heard::Line(line) if line == "ls"));
        assert!(matches!(read_line(&mut input), Heard::Unfit(why) if why.contains("long")));
        assert!(matches!(read_line(&mut input), Heard::Line(line) if line == "quit"));
        assert!(matches!(read_line(&mut input), Heard::Unfit(why) if why.contains("UTF-8")));
        assert!(matches!(read_line(&mut input), Heard::End));
    }
}
