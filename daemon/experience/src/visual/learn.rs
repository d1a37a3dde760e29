//! Stores what one observation teaches: which components were present, which were missed, and which state the screen
//! showed.
//!
//! Only changes are written. For an unchanged page, only two counters are incremented: one of its state and one of its
//! scope. The number of sightings of each component is the number of visits of the state since `from_visit`, minus
//! `missed`. A component that could not be observed, because it may have scrolled out of view or because its source did
//! not run, counts neither as seen nor as missed.
//!
//! A page is defined when it is seen for the second time, by the components that were present both times. This gives it
//! a code. A state that represents a set of detections is defined at once, by the components that were known before.

use std::collections::{HashMap, HashSet};

use rusqlite::Connection;

use super::identity::{self, Change, Verdict};
use super::index::{self, Index, Unpublished};
use super::lesson::{Lesson, Sighting, TREE};
use super::scope;
use super::states::{Standing, Visit};
use super::{components, states};
use afd_screen::page::element;
use afd_screen::page::snapshot::Rect;
use afd_screen::page::structure::Structure;
use afd_store::{Result, Sql as _, args, read};

/// The outcome of a lesson.
#[derive(Debug, Clone, Default)]
pub struct Learned {
    /// Row id of the scope.
    pub app: i64,
    /// Number of lessons in the scope, including this one.
    pub learn_count: i64,
    /// Row id of the state; `None` if none of the detected components was known before.
    pub state: Option<i64>,
    /// Key under which observations record the structure, if there is one.
    pub key: Option<String>,
    /// Whether this lesson defined the state.
    pub defined: bool,
    /// Number of new components.
    pub new_components: usize,
    /// Number of components of the page that were missed.
    pub missed: usize,
    /// Changes to publish to readers after the commit.
    pub unpublished: Unpublished,
}

/// A component of a state.
struct Link {
    component: i64,
    misses: i64,
    seen_before: Option<i64>,
    defining: bool,
    source: String,
    scrolls: bool,
    bounds: Option<Rect>,
    label: Option<String>,
    dynamic: bool,
}

/// Stores a lesson. On failure, drops the scope from the index, so that it is loaded again.
pub fn learn(connection: &Connection, origin: &str, index: &Index, lesson: &Lesson) -> Result<Learned> {
    let done = store_lesson(connection, origin, index, lesson);
    if done.is_err() {
        index.reload(&lesson.scope);
    }
    done
}

fn store_lesson(connection: &Connection, origin: &str, index: &Index, lesson: &Lesson) -> Result<Learned> {
    let scope = scope::get_or_create(connection, origin, &lesson.scope)?;
    let loaded = index.identity(connection, &lesson.scope)?;
    let mut identity = loaded.lesson();
    let mut learned = Learned {
        app: scope.id,
        learn_count: scope::count_learning(connection, scope.id, lesson.structure.is_none(), lesson.at)?,
        ..Learned::default()
    };
    scope::note_screen(connection, scope.id, lesson.size)?;
    if let Some(host) = &lesson.host {
        scope::add_host(connection, &lesson.scope, host)?;
    }
    let step = Step { connection, origin, app: scope.id, lesson };
    match &lesson.structure {
        Some(structure) => step.page(&mut identity, structure, &mut learned)?,
        None => step.detections(&mut identity, index, &mut learned)?,
    }
    if learned.missed > 0 {
        // The upkeep job checks whether anything was missed too often.
        index.touch(scope.id, None);
    }
    learned.unpublished = identity.finish(&loaded);
    Ok(learned)
}

/// A lesson that is being stored.
struct Step<'a> {
    connection: &'a Connection,
    origin: &'a str,
    app: i64,
    lesson: &'a Lesson,
}

impl Step<'_> {
    /// Learns from a page with a reliable tree.
    fn page(&self, identity: &mut index::Lesson<'_>, structure: &Structure, learned: &mut Learned) -> Result<()> {
        let at = self.lesson.at;
        let scrolled = self.lesson.scrolled_from.as_deref().and_then(|from| identity.state_of(from));
        let (verdict, pinned) = match (identity.decide(structure), scrolled) {
            // A structure that has a state of its own keeps it.
            (Verdict::Joins(_) | Verdict::Extends(_) | Verdict::New, Some(state)) => (Verdict::Joins(state), true),
            (verdict, _) => (verdict, false),
        };
        // A structure that belonged to another state before is not new.
        let returns = identity.has_seen(structure);
        let (state, names) = match verdict {
            Verdict::Is(state) | Verdict::Joins(state) | Verdict::Extends(state) => (state, false),
            Verdict::New => (states::insert_page(self.connection, self.origin, self.app, structure, at)?, true),
        };
        let visit = states::visit(self.connection, state, at)?;
        let example = names || verdict == Verdict::Extends(state);
        if names || verdict != Verdict::Is(state) {
            states::put_variant(
                self.connection,
                self.origin,
                self.app,
                state,
                structure,
                Standing { names, pinned, example },
            )?;
        }
        identity.change(Change::Seen { structure: structure.clone(), state, names, pinned, example });
        self.update_links(identity, state, visit, true, learned)?;
        self.miss_on_other_looks(structure, state, learned)?;
        (learned.state, learned.key) = (Some(state), Some(structure.key()));
        if let Some(code) = self.define_page(state, visit.count == 1 && !returns, structure)? {
            identity.change(Change::Code { state, code });
            learned.defined = true;
        }
        if learned.defined || learned.new_components > 0 {
            components::name_page(self.connection, state)?;
        }
        Ok(())
    }

    /// Defines a page, when it is seen again, by the components that were present each time. The first visit only
    /// stores the page's text.
    fn define_page(&self, state: i64, first: bool, structure: &Structure) -> Result<Option<String>> {
        if first {
            states::set_texts(self.connection, state, &self.lesson.texts)?;
            return Ok(None);
        }
        let Some(draft) = states::undefined(self.connection, state)? else { return Ok(None) };
        let names = components::defining_names(self.connection, state)?;
        let key = structure.key();
        let names: Vec<&str> = if names.is_empty() { vec![&key] } else { names.iter().map(String::as_str).collect() };
        let code = self.new_code(&names)?;
        let mut texts = draft.texts;
        match texts.is_empty() {
            true => texts.clone_from(&self.lesson.texts),
            false => texts.retain(|t| self.lesson.texts.contains(t)),
        }
        let name = self
            .lesson
            .page
            .clone()
            .or_else(|| structure.title.clone())
            .unwrap_or_else(|| states::name_of(structure, &code));
        states::define(self.connection, state, &code, &name, self.lesson.page.as_deref(), &texts)?;
        Ok(Some(code))
    }

    fn new_code(&self, names: &[&str]) -> Result<String> {
        let taken = states::codes(self.connection, self.app)?;
        Ok(identity::code(names, |code| taken.contains(code)))
    }

    /// Learns from detections without a tree: the state is the one with the most similar set of components.
    fn detections(&self, identity: &mut index::Lesson<'_>, index: &Index, learned: &mut Learned) -> Result<()> {
        let at = self.lesson.at;
        let mut seen = Vec::with_capacity(self.lesson.sightings.len());
        for sighting in &self.lesson.sightings {
            seen.push(self.component(identity, sighting, learned)?);
        }
        let stable: Vec<u64> = seen.iter().filter(|(_, known)| *known).map(|(id, _)| id.unsigned_abs()).collect();
        match identity.by_components(&stable) {
            Some(state) => {
                let visit = states::visit(self.connection, state, at)?;
                self.update_links(identity, state, visit, false, learned)?;
                learned.state = Some(state);
            }
            None if stable.is_empty() => components::count_loose_sightings(self.connection, self.app, &seen, at)?,
            None => {
                let state = self.new_set(&seen, &stable)?;
                identity.change(Change::Set { state, components: stable });
                index.touch(self.app, Some(state));
                learned.state = Some(state);
                learned.defined = true;
            }
        }
        if components::any_loose_overdue(self.connection, self.app)? {
            index.touch(self.app, None);
        }
        Ok(())
    }

    /// Creates a state that represents a set of detections.
    fn new_set(&self, seen: &[(i64, bool)], stable: &[u64]) -> Result<i64> {
        let ids: Vec<i64> = stable.iter().filter_map(|id| i64::try_from(*id).ok()).collect();
        let names = components::names(self.connection, &ids)?;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let code = self.new_code(&names)?;
        let name = self.lesson.page.clone().unwrap_or_else(|| code.replacen("s_", "state_", 1));
        let state = states::insert_set(self.connection, self.origin, self.app, &code, &name, self.lesson)?;
        let visit = states::visit(self.connection, state, self.lesson.at)?;
        for (component, known) in seen {
            self.link(state, visit, *component, *known)?;
        }
        Ok(state)
    }

    /// Returns the row id of a sighting's component, and whether it was known before. Inserts the component if it is
    /// new.
    fn component(
        &self,
        identity: &mut index::Lesson<'_>,
        sighting: &Sighting,
        learned: &mut Learned,
    ) -> Result<(i64, bool)> {
        if let Some(id) = identity.component(&sighting.key) {
            if sighting.crop.is_some() {
                components::set_crop(self.connection, id, sighting.crop.as_deref(), self.lesson.at)?;
            }
            return Ok((id, true));
        }
        let (page, at) = (self.lesson.page.as_deref(), self.lesson.at);
        let id = components::insert(self.connection, self.origin, self.app, sighting, page, at)?;
        identity.change(Change::Component { key: sighting.key.clone(), id });
        learned.new_components += 1;
        Ok((id, false))
    }

    fn link(&self, state: i64, visit: Visit, component: i64, defining: bool) -> Result<()> {
        self.connection.run(
            "INSERT INTO state_components (state_id, component_id, defining, from_visit) VALUES (:state_id, :component_id, :defining,
                    :from_visit)
                 ON CONFLICT (state_id, component_id) DO NOTHING",
            args! {state_id: state, component_id: component, defining, from_visit: visit.count - 1},
        )?;
        components::mark_attached(self.connection, component)
    }

    /// Updates a state's links with the sightings. If the state `grows`, as a page does, components that are seen on it
    /// again join its defining set. The defining set of a state that represents detections never changes.
    fn update_links(
        &self,
        identity: &mut index::Lesson<'_>,
        state: i64,
        visit: Visit,
        grows: bool,
        learned: &mut Learned,
    ) -> Result<()> {
        let mut links = self.links(state)?;
        let mut still: Vec<(&Sighting, Link)> = Vec::new();
        for sighting in &self.lesson.sightings {
            match links.remove(&sighting.key) {
                Some(link) => still.push((sighting, link)),
                None => {
                    let (component, known) = self.component(identity, sighting, learned)?;
                    self.link(state, visit, component, grows && known)?;
                }
            }
        }
        // A component that scrolls can be missed only if the view did not scroll: the scrolling components outside list
        // rows are at their previous positions.
        let mut anchors = still.iter().filter(|(s, l)| l.scrolls && !element::belongs_to_list(&s.key)).peekable();
        let unscrolled = anchors.peek().is_some() && anchors.all(|(s, l)| s.bounds == l.bounds);
        let observers: HashSet<&str> = self.lesson.sightings.iter().map(|s| s.source.as_str()).collect();
        for link in links.into_values() {
            let observable = observers.contains(link.source.as_str()) || (grows && link.source == TREE);
            if observable && !self.lesson.cut && (!link.scrolls || unscrolled) {
                self.miss(state, &link, visit.before)?;
                learned.missed += 1;
            } else {
                self.skip_visit(state, &link, visit.before)?;
            }
        }
        for (sighting, link) in still {
            self.see(state, sighting, &link, grows)?;
        }
        Ok(())
    }

    /// Counts misses on other states with the same place and title, which are other appearances of this page. In this
    /// way, components that an app update removed are forgotten, although the page's old appearance is never seen
    /// again.
    fn miss_on_other_looks(&self, structure: &Structure, state: i64, learned: &mut Learned) -> Result<()> {
        let Some(title) = structure.title.as_deref().filter(|_| !structure.dialog && !self.lesson.cut) else {
            return Ok(());
        };
        let seen: HashSet<&str> = self.lesson.sightings.iter().map(|s| s.key.as_str()).collect();
        for other in states::others_of_page(self.connection, self.app, (&structure.place, title), state)? {
            for (key, link) in self.links(other)? {
                if link.source == TREE && !link.scrolls && !seen.contains(key.as_str()) {
                    self.connection.run(
                        "UPDATE state_components SET misses = misses + 1 WHERE state_id = :state_id AND component_id = :component_id",
                        args! {state_id: other, component_id: link.component},
                    )?;
                    learned.missed += 1;
                }
            }
        }
        Ok(())
    }

    /// Returns the components of a state by key.
    fn links(&self, state: i64) -> Result<HashMap<String, Link>> {
        self.connection.all(
            "SELECT c.key, sc.component_id, sc.misses, sc.defining, c.source, c.scrolls, c.bounds_left, c.bounds_top, c.bounds_right,
                c.bounds_bottom, c.label, c.dynamic, sc.seen_before
             FROM state_components sc JOIN components c ON c.id = sc.component_id WHERE sc.state_id = :state_id AND c.deleted_at IS NULL",
            args! {state_id: state},
            |row| {
                let link = read!(row => Link {
                    misses, defining, source, scrolls, label, dynamic, seen_before,
                    component: row.get("component_id")?,
                    bounds: components::bounds(row)?,
                });
                Ok((row.get("key")?, link))
            },
        )
    }

    /// Counts a miss. The first of several consecutive misses stores the time of the previous visit as the time at
    /// which the component was last seen.
    fn miss(&self, state: i64, link: &Link, before: i64) -> Result<()> {
        self.connection.run(
            "UPDATE state_components SET missed = missed + 1, misses = misses + 1,
                    seen_before = coalesce(seen_before, :before)
                 WHERE state_id = :state_id AND component_id = :component_id",
            args! {state_id: state, component_id: link.component, before},
        )?;
        Ok(())
    }

    /// Excludes a visit at which a component could not be observed: the component counts neither as seen nor as missed.
    fn skip_visit(&self, state: i64, link: &Link, before: i64) -> Result<()> {
        self.connection.run(
            "UPDATE state_components SET from_visit = from_visit + 1, seen_before = coalesce(seen_before, :before)
                 WHERE state_id = :state_id AND component_id = :component_id",
            args! {state_id: state, component_id: link.component, before},
        )?;
        Ok(())
    }

    /// Stores the changes to a component that was expected and seen.
    fn see(&self, state: i64, sighting: &Sighting, link: &Link, grows: bool) -> Result<()> {
        if link.misses > 0 || link.seen_before.is_some() || (grows && !link.defining) {
            self.connection.run(
                "UPDATE state_components SET misses = 0, seen_before = NULL, defining = max(defining, :grows)
                     WHERE state_id = :state_id AND component_id = :component_id",
                args! {state_id: state, component_id: link.component, grows},
            )?;
        }
        if sighting.bounds.is_some() && sighting.bounds != link.bounds {
            components::set_bounds(self.connection, link.component, sighting.bounds, self.lesson.at)?;
        }
        if sighting.crop.is_some() {
            components::set_crop(self.connection, link.component, sighting.crop.as_deref(), self.lesson.at)?;
        }
        if link.label != sighting.label && !link.dynamic && sighting.label.is_some() {
            components::update_label(self.connection, link.component, sighting, self.lesson.at)?;
        }
        Ok(())
    }
}
