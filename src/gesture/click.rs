//! A click: brought into view, held still, compared again, guarded, pressed, verified, released (security D6).

use super::perform::{End, Hand};
use crate::browser::input::{Armed, Hit, Point};
use crate::browser::probe::Handle;
use crate::browser::targets::Landed;
use crate::error::{Code, Refusal};

/// How often a moving element is waited for.
const TRIES: usize = 4;

/// Clicks the element, or says why not.
pub(super) async fn click(hand: &Hand<'_>) -> Result<End, Refusal> {
    let handle = hand.handle().await?;
    let at = match at_rest(hand, &handle).await? {
        Hit::At(at) => at,
        Hit::Covered(by) => {
            return Ok(End {
                covered_by: by,
                ..End::refused(Code::Covered.into())
            });
        }
        Hit::OutOfSight => return Err(Code::NotVisible.into()),
    };
    hand.still_the_same(None).await?;
    let mut armed = hand.page.arm(&handle, None).await?;
    let end = guarded(hand, &handle, at, &mut armed).await;
    let landed = match &end {
        Ok(Pressed::Landed) => Landed::OnTarget,
        Ok(Pressed::Astray { .. } | Pressed::Lost) | Err(_) => Landed::Astray,
    };
    armed.finish(landed).await;
    Ok(match end? {
        Pressed::Landed => End::done(),
        Pressed::Astray { touched: false } => End::refused(Code::Misdirected.into()),
        Pressed::Astray { touched: true } => End::unknown(Code::Misdirected.into()),
        Pressed::Lost => End::unknown(Code::GestureInterrupted.into()),
    })
}

enum Pressed {
    Landed,
    /// Whether any event reached the target before it went astray.
    Astray {
        touched: bool,
    },
    /// The connection or the tab failed between press and release.
    Lost,
}

async fn guarded(
    hand: &Hand<'_>,
    handle: &Handle,
    at: Point,
    armed: &mut Armed<'_>,
) -> Result<Pressed, Refusal> {
    // Arming took time: the point is tested once more, and it must be the same point.
    match hand.page.hit_test(handle).await? {
        Hit::At(now) if now == at => {}
        Hit::At(_) => return Err(Code::StillMoving.into()),
        Hit::Covered(_) | Hit::OutOfSight => return Err(Code::Covered.into()),
    }
    hand.not_cancelled()?;
    crate::checkpoint::reached("armed");
    // From here to the release nothing may stop us half-way.
    armed.pressing();
    if hand.page.press(at).await.is_err() {
        let _ = hand.page.release_button(at).await;
        return Ok(Pressed::Lost);
    }
    crate::checkpoint::reached("pressed");
    let pressed = armed.report("mousedown").await;
    // Also where it went astray the button must come up; the guard is still armed and stops what follows from it.
    let released = hand.page.release_button(at).await;
    if !pressed.stopped.is_empty() || !pressed.saw("mousedown") {
        return Ok(Pressed::Astray {
            // A press that no guard saw went where none is, and what it did there is not known.
            touched: !pressed.passed.is_empty() || pressed.stopped.is_empty(),
        });
    }
    crate::checkpoint::reached("released");
    if released.is_err() {
        return Ok(Pressed::Lost);
    }
    let whole = armed.report("click").await;
    if whole.stopped.is_empty() && whole.saw("click") {
        return Ok(Pressed::Landed);
    }
    Ok(Pressed::Astray { touched: true })
}

/// Brings the element into view and waits until it is at the same point twice, two drawn frames apart.
async fn at_rest(hand: &Hand<'_>, handle: &Handle) -> Result<Hit, Refusal> {
    let page = hand.page;
    let mut hit = page.hit_test(handle).await?;
    if !matches!(hit, Hit::At(_)) {
        page.bring_into_view(handle).await?;
        hit = page.hit_test(handle).await?;
    }
    for _ in 0..TRIES {
        let Hit::At(at) = hit else { return Ok(hit) };
        page.pointer_to(at).await?;
        page.frames_drawn().await?;
        let now = page.hit_test(handle).await?;
        if now == hit {
            return Ok(now);
        }
        hit = now;
    }
    Err(Code::StillMoving.into())
}
