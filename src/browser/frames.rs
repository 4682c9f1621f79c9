//! Frames of other sites: which of them may be read, their part of a look, and where they lie (security U4, U7).
//!
//! A walk sees its own document and the frames that share its origin. A frame that it cannot see into is read in a world of
//! its own, if it and every frame around it is listed, and its part takes the place of the frame in the look. Whatever
//! cannot be read in time, or lies where nobody can say, stays a blocked frame: counted, and covered in the picture.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

use super::methods::Observe;
use super::probe::{
    Budget, GROUP, Geometry, Handle, Item, Look, Moment, Object, Page, Place, Rect, Seen, Walk,
    Walked,
};
use super::script::{self, Argument};
use super::targets::World;
use super::wire::CALL;
use crate::domain::site::Origin;
use crate::error::{Code, Refusal};

/// How many frames of other sites one look reads.
const MOST: usize = 32;
/// How long one of them may take; then it is a blocked frame.
const ONE: Duration = Duration::from_millis(1_500);
/// How long all of them may take.
const ALL: Duration = Duration::from_millis(3_000);
/// How long one may take to say where things are in it; then it is covered. A picture asks twice, three times over at most.
const ONE_PLACED: Duration = Duration::from_millis(750);
/// How long all of them may take for that.
const ALL_PLACED: Duration = Duration::from_millis(1_500);

/// A frame of another site that was read.
#[derive(Debug, Clone)]
pub(in crate::browser) struct ReadFrame {
    /// Which document of the look holds it; 0 is the top one.
    within: usize,
    /// That document's number of the frame element.
    element: u64,
    /// The world of its own document.
    world: World,
}

impl ReadFrame {
    /// The origin of its document.
    pub(in crate::browser) const fn origin(&self) -> &Origin {
        &self.world.origin
    }
}

/// What one document says of where things are in it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(in crate::browser) struct Part {
    masks: Vec<Rect>,
    whole: bool,
    steady: bool,
    /// Whether nothing moved in any frame drawn since the reading before.
    still: bool,
    marks: Vec<[i64; 4]>,
    scroll: [f64; 2],
    view: [f64; 3],
    frames: Vec<Lies>,
}

/// Where a frame lies.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Lies {
    serial: u64,
    rect: Rect,
    view: Option<Rect>,
    steady: bool,
}

impl Page {
    /// The whole look: the walk, and the browser's own word on each mark, through all frames that may be read.
    ///
    /// # Errors
    /// Where the tab is gone, silent or shows nothing that can be read.
    pub async fn look(&self, budget: Budget, table: &Value) -> Result<Look, Refusal> {
        let world = self.world()?;
        let walk = self.walk(&world, budget, table, None, false).await?;
        let elements = self.named(&walk).await?;
        self.through_frames(walk, elements, budget, table).await
    }

    /// A look, where everything was just before a picture was taken, and the picture.
    ///
    /// # Errors
    /// As [`Page::look`]; where only the picture failed, the look is there.
    pub async fn look_and_draw(
        &self,
        budget: Budget,
        table: &Value,
    ) -> Result<(Look, Geometry, Result<Vec<u8>, Refusal>), Refusal> {
        let world = self.world()?;
        let changes = self.hub.frame_changes(self.tab);
        let mut walk = self.walk(&world, budget, table, None, true).await?;
        match walk.walked.geometry.take() {
            // The browser is asked for names while it draws.
            Some(top) => {
                let (elements, picture) = tokio::join!(self.named(&walk), self.screenshot());
                let look = self.through_frames(walk, elements?, budget, table).await?;
                Ok((look, Geometry::of(top, changes), picture))
            }
            None => {
                let elements = self.named(&walk).await?;
                let look = self.through_frames(walk, elements, budget, table).await?;
                let before = self.geometry(&look, Moment::Before).await?;
                let picture = self.screenshot().await;
                Ok((look, before, picture))
            }
        }
    }

    async fn through_frames(
        &self,
        walk: Walk,
        elements: Vec<Seen>,
        budget: Budget,
        table: &Value,
    ) -> Result<Look, Refusal> {
        let Walk {
            world, walked, far, ..
        } = walk;
        let mut look = Look {
            origin: self.info()?.origin,
            walked,
            elements,
            far,
            world: world.unique.clone(),
            generation: self.hub.generation,
            tab: self.tab,
            frames: Vec::new(),
        };
        self.read_frames(&world, &mut look, budget, table).await;
        if self.world()?.unique != world.unique {
            return Err(Code::Stale.into());
        }
        Ok(look)
    }

    /// Reads the frames of a look one after the other, in reading order; those inside them with them.
    async fn read_frames(&self, top: &World, look: &mut Look, budget: Budget, table: &Value) {
        let until = Instant::now() + ALL;
        let last = |items: &[Item]| items.iter().map(block).max().unwrap_or_default();
        let mut blocks = last(&look.walked.items);
        let mut left = look.walked.left;
        let mut at = 0;
        while let Some(item) = look.walked.items.get(at) {
            at += 1;
            let Item::Blocked {
                r, e, p, within, ..
            } = item
            else {
                continue;
            };
            let (rect, element, within) = (*r, *e, *within);
            let holder = match within.checked_sub(1) {
                None => Some(top),
                Some(n) => look.frames.get(n).map(|frame| &frame.world),
            };
            let budget = Budget {
                marks: budget.marks.saturating_sub(look.elements.len()),
                text: left.text,
                nodes: left.nodes,
                hits: left.hits,
                hidden: budget.hidden,
                // What is out of sight in a frame is counted.
                far: 0,
            };
            let within_time = until.saturating_duration_since(Instant::now()).min(ONE);
            let read = match (holder, p) {
                (Some(holder), Some(place)) if look.frames.len() < MOST => {
                    let reading = self.read_frame(holder, element, place, budget, table);
                    let read = tokio::time::timeout(within_time, reading).await;
                    read.ok().flatten().map(|read| (place.clip, read))
                }
                _ => None,
            };
            let Some((clip, (world, walked, seen))) = read else {
                look.walked.masks.push(rect);
                continue;
            };
            let Walked {
                items,
                counts,
                masks,
                left: rest,
                ..
            } = walked;
            left = rest;
            look.frames.push(ReadFrame {
                within,
                element,
                world: world.clone(),
            });
            let number = look.frames.len();
            let (first, marks) = (blocks + 1, look.elements.len());
            blocks = first + last(&items) + 2;
            let begins = Item::Edge {
                b: first,
                origin: Some(world.origin),
            };
            let ends = Item::Edge {
                b: blocks,
                origin: None,
            };
            let items = items
                .into_iter()
                .map(|item| moved(item, first + 1, marks, number));
            let part: Vec<Item> = std::iter::once(begins).chain(items).chain([ends]).collect();
            look.walked.items.splice(at - 1..at, part);
            look.elements.extend(seen);
            let all = &mut look.walked.counts;
            all.hidden += counts.hidden;
            all.covered += counts.covered;
            all.above += counts.above;
            all.below += counts.below;
            all.left += counts.left;
            all.right += counts.right;
            all.omitted += counts.omitted;
            all.frames = (all.frames + counts.frames).saturating_sub(1);
            let masks = masks.into_iter().filter_map(|mask| cross(mask, clip));
            look.walked.masks.extend(masks);
        }
    }

    /// Reads one frame, if it may be read; `None` for whatever stands against it.
    async fn read_frame(
        &self,
        holder: &World,
        element: u64,
        place: &Place,
        budget: Budget,
        table: &Value,
    ) -> Option<(World, Walked, Vec<Seen>)> {
        let arguments = vec![Argument::Value(json!(element))];
        let found = self.object(holder, script::BY_SERIAL, None, arguments);
        let frame = self.describe(&found.await.ok()??).await.ok()?.frame_id?;
        let world = self.readable_frame(&frame)?;
        let read = async {
            let walk = self.walk(&world, budget, table, Some(place), false).await?;
            let seen = self.named(&walk).await?;
            Ok::<_, Refusal>((walk.walked, seen))
        };
        let (walked, seen) = read
            .await
            .inspect_err(|refusal| tracing::debug!("a frame was not read: {refusal}"))
            .ok()?;
        // It is the same document still, and what is around it is listed still.
        let now = self.readable_frame(&frame)?;
        (now.unique == world.unique).then_some((world, walked, seen))
    }

    /// The world of a frame whose document may be read now.
    pub(in crate::browser) fn readable_frame(&self, frame: &str) -> Option<World> {
        let chain = self.hub.chain(self.tab, frame)?;
        if !self.hub.is_readable(&chain) {
            return None;
        }
        chain.into_iter().next().map(|(_, world)| world)
    }

    /// The worlds of the other documents of the tab that may be read.
    pub(in crate::browser) fn frames_beside(&self, top: &World) -> Vec<World> {
        let mut worlds = self.hub.readable(self.tab);
        worlds.retain(|world| world.unique != top.unique);
        worlds.truncate(MOST);
        worlds
    }

    /// Where marks and masks are now, in every document that was read. A frame that cannot be asked is covered whole.
    ///
    /// # Errors
    /// As [`Page::look`].
    pub async fn geometry(&self, look: &Look, moment: Moment) -> Result<Geometry, Refusal> {
        let world = self.world()?;
        let before = self.hub.frame_changes(self.tab);
        let top: Part = self
            .value(
                &world,
                script::GEOMETRY,
                None,
                asked(look, 0, [0.0, 0.0], moment),
            )
            .await?;
        let mut all = Geometry::of(top, before);
        let until = Instant::now() + ALL_PLACED;
        for (n, frame) in look.frames.iter().enumerate() {
            let holder = all.parts.get(frame.within).and_then(Option::as_ref);
            let lies = holder.and_then(|part| {
                let mut frames = part.frames.iter();
                frames.find(|lies| lies.serial == frame.element).cloned()
            });
            // One that is not in its document any more is not drawn; nor is one in a frame that is covered.
            let Some(lies) = lies else {
                all.parts.push(None);
                continue;
            };
            let within = until
                .saturating_duration_since(Instant::now())
                .min(ONE_PLACED);
            let part = match lies.view {
                Some([x, y, ..]) => {
                    let arguments = asked(look, n + 1, [x, y], moment);
                    let ask = self.value::<Part>(&frame.world, script::GEOMETRY, None, arguments);
                    tokio::time::timeout(within, ask).await
                }
                None => Ok(Err(Code::Stale.into())),
            };
            match (part, lies.view) {
                (Ok(Ok(part)), Some(view)) if part.whole => {
                    let own: Vec<Rect> = part
                        .masks
                        .iter()
                        .filter_map(|mask| cross(*mask, view))
                        .collect();
                    all.steady &= part.steady && (own.is_empty() || lies.steady);
                    all.masks.extend(own);
                    all.parts.push(Some(part));
                }
                _ => {
                    all.steady &= lies.steady;
                    all.masks.push(lies.rect);
                    all.parts.push(None);
                }
            }
        }
        // A frame that came or went meanwhile may have been in the picture.
        all.steady &= self.hub.frame_changes(self.tab) == before;
        Ok(all)
    }

    // ---- the frames around an element -------------------------------------------------------------------------------

    /// The elements that hold the frames around a world's document, innermost first, each in its own document's world.
    pub(in crate::browser) async fn owners(&self, world: &World) -> Result<Vec<Handle>, Refusal> {
        let chain = self
            .hub
            .chain_of(self.tab, &world.unique)
            .ok_or(Code::Stale)?;
        let mut owners = Vec::new();
        for pair in chain.windows(2) {
            if let [(frame, _), (_, around)] = pair {
                owners.push(self.owner(frame, around).await?);
            }
        }
        Ok(owners)
    }

    async fn owner(&self, frame: &str, around: &World) -> Result<Handle, Refusal> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Owner {
            backend_node_id: i64,
        }
        let ask = Observe::FrameOwner { frame_id: frame };
        let owner: Owner = self.wire_on(&around.session, &ask, CALL).await?;
        self.resolve(owner.backend_node_id, around).await
    }

    /// A node as an object of a world.
    pub(in crate::browser) async fn resolve(
        &self,
        backend: i64,
        world: &World,
    ) -> Result<Handle, Refusal> {
        #[derive(Deserialize)]
        struct Resolved {
            object: Object,
        }
        let resolve = Observe::ResolveNode {
            backend_node_id: backend,
            execution_context_id: world.number,
            object_group: GROUP,
        };
        let resolved: Resolved = self.wire_on(&world.session, &resolve, CALL).await?;
        Ok(Handle {
            object: resolved.object.object_id.ok_or(Code::Stale)?,
            world: world.clone(),
        })
    }
}

impl Geometry {
    /// Of a page without frames of other sites.
    fn of(top: Part, changes: u64) -> Self {
        Self {
            masks: top.masks.clone(),
            whole: top.whole,
            steady: top.steady,
            parts: vec![Some(top)],
            changes,
        }
    }
}

fn asked(look: &Look, within: usize, base: [f64; 2], moment: Moment) -> Vec<Argument<'static>> {
    let frames = look.frames.iter().filter(|frame| frame.within == within);
    let read: Vec<u64> = frames.map(|frame| frame.element).collect();
    vec![
        Argument::Value(json!(read)),
        Argument::Value(json!(base)),
        Argument::Value(json!(moment == Moment::Before)),
    ]
}

const fn block(item: &Item) -> u64 {
    match item {
        Item::Text { b, .. }
        | Item::Mark { b, .. }
        | Item::Hidden { b, .. }
        | Item::Rows { b, .. }
        | Item::Blocked { b, .. }
        | Item::Edge { b, .. } => *b,
    }
}

/// The same item as a part of a larger look.
fn moved(mut item: Item, blocks: u64, marks: usize, within: usize) -> Item {
    match &mut item {
        Item::Mark { b, n, .. } => {
            *b += blocks;
            *n += marks;
        }
        Item::Blocked { b, within: own, .. } => {
            *b += blocks;
            *own = within;
        }
        Item::Text { b, .. }
        | Item::Hidden { b, .. }
        | Item::Rows { b, .. }
        | Item::Edge { b, .. } => *b += blocks,
    }
    item
}

/// What two rectangles have in common.
pub(in crate::browser) fn cross(
    [x, y, w, h]: Rect,
    [left, top, width, height]: Rect,
) -> Option<Rect> {
    let (l, t) = (x.max(left), y.max(top));
    let (r, b) = ((x + w).min(left + width), (y + h).min(top + height));
    (r > l && b > t).then_some([l, t, r - l, b - t])
}
