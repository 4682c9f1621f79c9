//! Fields: filled and read back, options chosen, keys pressed; always on what has the focus and nowhere else (security D7).

use super::perform::{End, FieldAfter, Hand, Settles, pieces};
use crate::browser::input::{Armed, Entered, Held, is_set_not_typed};
use crate::browser::probe::Handle;
use crate::browser::targets::Landed;
use crate::domain::action::Typed;
use crate::domain::key::Chord;
use crate::domain::text::Untrusted;
use crate::error::{Code, Detail, Effect, Refusal};

/// Replaces what a field holds.
pub(super) async fn fill(hand: &Hand<'_>, text: &Typed) -> Result<End, Refusal> {
    let handle = hand.handle().await?;
    hand.page.bring_into_view(&handle).await?;
    hand.still_the_same(None).await?;
    hand.not_cancelled()?;
    if is_set_not_typed(&hand.facts.print().kind, hand.facts.state()) {
        return Ok(match hand.page.set_value(&handle, text.expose()).await {
            Ok(held) => read_back(hand, held),
            Err(refusal) => End::unknown(refusal),
        });
    }
    let mut armed = hand.page.arm(&handle, Some("key")).await?;
    let typed = type_into(hand, &handle, text).await;
    close(&mut armed, typed.is_ok()).await;
    match typed {
        Ok(()) => {}
        Err(Halted {
            refusal,
            typed: true,
        }) => return Ok(End::unknown(refusal)),
        Err(Halted {
            refusal,
            typed: false,
        }) => return Err(refusal),
    }
    Ok(match hand.page.holds(&handle, text.expose()).await {
        Ok(held) => read_back(hand, held),
        Err(refusal) => End::unknown(refusal),
    })
}

/// Why typing stopped, and whether anything had been typed.
struct Halted {
    refusal: Refusal,
    typed: bool,
}

async fn type_into(hand: &Hand<'_>, handle: &Handle, text: &Typed) -> Result<(), Halted> {
    let before = |refusal| Halted {
        refusal,
        typed: false,
    };
    let after = |refusal| Halted {
        refusal,
        typed: true,
    };
    if !hand.page.focus(handle).await.map_err(before)? {
        return Err(before(Code::FocusLost.into()));
    }
    for (i, piece) in pieces(text).iter().enumerate() {
        let first = i == 0;
        let entered = hand.page.enter(handle, piece, first).await.map_err(after)?;
        match entered {
            Entered::Entered | Entered::Taken => {}
            Entered::Lost if first => return Err(before(Code::FocusLost.into())),
            Entered::Lost | Entered::Stolen => return Err(after(Code::FocusLost.into())),
        }
    }
    Ok(())
}

fn read_back(hand: &Hand<'_>, held: Held) -> End {
    let sensitive = hand.facts.state().masked;
    let field = FieldAfter {
        same: held.same,
        value: held.value.filter(|_| !sensitive),
    };
    if held.same {
        return End {
            field: Some(field),
            ..End::done()
        };
    }
    // The page reformatted, cut or refused what was entered: something was done, but not what was asked.
    let refusal = Refusal::new(Code::NotKept).having(Effect::Done);
    End {
        outcome: super::perform::Outcome::Unknown(refusal),
        field: Some(field),
        covered_by: None,
        settles: Settles::Page,
    }
}

/// Chooses options of a select.
pub(super) async fn select(hand: &Hand<'_>, options: &[Untrusted]) -> Result<End, Refusal> {
    let handle = hand.handle().await?;
    hand.still_the_same(None).await?;
    let choice = hand.page.can_choose(&handle, options).await?;
    if !choice.fits {
        let code = if choice.ambiguous {
            Code::AmbiguousOption
        } else if choice.disabled {
            Code::Disabled
        } else {
            Code::UnknownOption
        };
        let list = choice
            .list
            .into_iter()
            .map(|(label, value)| (Untrusted::new(label), Untrusted::new(value)));
        return Err(Refusal::new(code).with(Detail::Options(list.collect())));
    }
    hand.not_cancelled()?;
    Ok(match hand.page.choose(&handle, options).await {
        Ok(held) => read_back(hand, held),
        Err(refusal) => End::unknown(refusal),
    })
}

/// Presses a key on the element, which has or gets the focus.
pub(super) async fn press(hand: &Hand<'_>, chord: &Chord) -> Result<End, Refusal> {
    let handle = hand.handle().await?;
    if !hand.page.has_focus(&handle).await? && !hand.page.focus(&handle).await? {
        return Err(Code::FocusLost.into());
    }
    let pressing = if chord.is_enter() { "enter" } else { "key" };
    hand.still_the_same(Some(pressing)).await?;
    let mut armed = hand.page.arm(&handle, Some(pressing)).await?;
    let pressed = key(hand, &handle, chord, &mut armed).await;
    if let Err(Halted {
        refusal,
        typed: false,
    }) = pressed
    {
        close(&mut armed, false).await;
        return Err(refusal);
    }
    let report = armed.report_to("keyup").await;
    // Where a key moves the focus, as Tab does, it comes up elsewhere: that is stopped, and nothing went astray.
    let astray = report.stopped.iter().any(|event| event != "keyup");
    let landed = pressed.is_ok() && !astray && report.saw("keydown");
    close(&mut armed, landed).await;
    match pressed {
        Err(Halted { refusal, .. }) => Ok(End::unknown(refusal)),
        Ok(()) if landed => Ok(End::done()),
        Ok(()) if report.passed.is_empty() && !report.stopped.is_empty() => {
            Err(Code::FocusLost.into())
        }
        // No guard saw it: it went to a frame that has none.
        Ok(()) if report.passed.is_empty() => Ok(End::unknown(Code::FocusLost.into())),
        // The key went to the element, and then something else was about to be pressed by it.
        Ok(()) => Ok(End::unknown(Code::Misdirected.into())),
    }
}

async fn key(
    hand: &Hand<'_>,
    handle: &Handle,
    chord: &Chord,
    armed: &mut Armed<'_>,
) -> Result<(), Halted> {
    let before = |refusal| Halted {
        refusal,
        typed: false,
    };
    if !hand.page.has_focus(handle).await.map_err(before)? {
        return Err(before(Code::FocusLost.into()));
    }
    hand.not_cancelled().map_err(before)?;
    armed.pressing();
    hand.page.press_key(chord).await.map_err(|refusal| Halted {
        refusal,
        typed: true,
    })
}

async fn close(armed: &mut Armed<'_>, landed: bool) {
    armed
        .finish(if landed {
            Landed::OnTarget
        } else {
            Landed::Astray
        })
        .await;
}
