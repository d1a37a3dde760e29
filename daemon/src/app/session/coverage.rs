//! `session.coverage`, `session.tested`: the share of known pages and elements that has been tested.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use afd_proto::coverage::{Coverage, CoverageParams, SessionCoverage, Share};
use afd_proto::findings::{TestedElement, TestedElements, TestedMark, TestedParams};
use afd_proto::session::VisitedPage;

use super::findings::place;
use super::{for_writing, known};
use crate::app::checks::check_text;
use crate::app::{Core, Error, Methods, Result};
use afd_experience::memory::views::ShownRefs;
use afd_experience::memory::{log, sessions};
use afd_experience::visual::known as visual;
use afd_experience::visual::states;
use afd_screen::page::element::{self, Element};
use afd_store::{Connection, Result as Stored, StoreError};
use afd_workspace::tested::{self, Mark, Marked};
use afd_workspace::{self as session, Session, results};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<SessionCoverage, _, _>(|core, p| async move { coverage(&core, &p).await });
    methods.add::<TestedMark, _, _>(|core, p| async move { mark(&core, &p).await });
}

/// Maximum number of uncovered pages or elements that are listed by name.
const MAX_MISSING: usize = 20;

/// Creates a coverage share from counts; the share is 0 per cent if nothing is known.
fn share(known: usize, covered: usize, missing: Vec<String>) -> Share {
    let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let percent = if known == 0 { 0.0 } else { covered as f64 * 1000.0 / known as f64 };
    Share {
        known: number(known),
        covered: number(covered),
        percent: percent.round() / 10.0,
        missing: missing.into_iter().take(MAX_MISSING).collect(),
    }
}

/// `session.coverage`: reports which known pages and elements a session visited and tested.
///
/// # Errors
/// `NOT_FOUND` if there is no such session.
pub async fn coverage(core: &Arc<Core>, params: &CoverageParams) -> Result<Coverage> {
    let session = known(core, params.session()).await?;
    let app = params.app.clone();
    let gathered = core.store.read_all(move |c| {
        let pages = sessions::pages(c, session.id)?.into_iter().map(|(page, _)| page).collect::<Vec<_>>();
        gather(c, &session, app.as_deref(), &pages, &tested::all(c, session.id)?)
    });
    Ok(gathered.await?)
}

/// Computes the coverage of `app`, or else of the session's app, or else of the app with the most observations.
pub(super) fn gather(
    c: &Connection,
    session: &Session,
    app: Option<&str>,
    pages: &[VisitedPage],
    marked: &[Marked],
) -> Stored<Coverage> {
    let mut coverage = Coverage {
        elements_tested: i64::try_from(marked.len()).unwrap_or(i64::MAX),
        pages_visited: i64::try_from(pages.len()).unwrap_or(i64::MAX),
        ..Coverage::default()
    };
    let Some(app) = app.map(str::to_owned).or_else(|| session.app.clone()).or_else(|| most_used(pages)) else {
        return Ok(coverage);
    };
    let visited = visited(c, session.id)?;
    let with_result = tested_states(c, session.id, marked)?;
    let known = visual::pages(c, &app)?;
    let of = |covers: &dyn Fn(&visual::Page) -> bool| {
        let (covered, missing): (Vec<&visual::Page>, Vec<&visual::Page>) = known.iter().partition(|p| covers(p));
        share(known.len(), covered.len(), missing.iter().map(|p| p.name.clone()).collect())
    };
    coverage.pages = of(&|p| visited.contains(&p.id));
    coverage.pages_tested = of(&|p| with_result.contains(&p.code));
    // Only visited pages are listed as untested, because the others have to be visited first.
    let untested = known.iter().filter(|p| visited.contains(&p.id) && !with_result.contains(&p.code));
    coverage.pages_tested.missing = untested.map(|p| p.name.clone()).take(MAX_MISSING).collect();
    coverage.elements = elements(&visual::elements(c, &app)?, marked);
    coverage.coverage_percent =
        if coverage.elements.known == 0 { coverage.pages.percent } else { coverage.elements.percent };
    coverage.app = Some(app);
    Ok(coverage)
}

/// Computes the coverage of elements. The rows of a list share one component. Once one row was tested, each row that
/// the list had on the screen counts as an element.
fn elements(known: &[visual::Element], marked: &[Marked]) -> Share {
    let (mut all, mut covered, mut missing) = (0, 0, Vec::new());
    for element in known {
        let tested: Vec<&Marked> =
            marked.iter().filter(|m| m.element.component.as_deref() == Some(&element.uid)).collect();
        let rows = tested.iter().filter_map(|m| m.list_rows).max().map(|rows| usize::try_from(rows).unwrap_or(0));
        let of_rows = tested.iter().filter(|m| m.list_rows.is_some());
        let names: BTreeSet<String> = of_rows.map(|m| m.element.element.to_lowercase()).collect();
        let of = rows.map_or(1, |rows| rows.max(names.len()));
        let done = if rows.is_some() { names.len() } else { usize::from(!tested.is_empty()) };
        all += of;
        covered += done;
        if done == 0 {
            missing.push(element.name.clone());
        } else if done < of {
            missing.push(format!("{} ({} of {of} rows)", element.name, of - done));
        }
    }
    share(all, covered, missing)
}

/// Returns the app with the most observations; among equals, the first by name.
fn most_used(pages: &[VisitedPage]) -> Option<String> {
    let mut used: HashMap<&str, i64> = HashMap::new();
    pages.iter().filter(|p| !p.app.is_empty()).for_each(|p| *used.entry(&p.app).or_default() += p.observations);
    used.into_iter().max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(a.0))).map(|(app, _)| app.to_owned())
}

/// Returns the row ids of the visual states that a session visited.
fn visited(c: &Connection, session: i64) -> Stored<BTreeSet<i64>> {
    let keys = sessions::structures(c, session)?;
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    Ok(states::by_structure(c, &keys)?.into_iter().map(|(_, state)| state).collect())
}

/// Returns the codes of the states with a test result or a tested element.
fn tested_states(c: &Connection, session: i64, marked: &[Marked]) -> Stored<BTreeSet<String>> {
    let mut states: BTreeSet<String> = marked.iter().filter_map(|m| m.state.clone()).collect();
    states.extend(results::places(c, session)?.into_iter().filter_map(|(_, state)| state));
    Ok(states)
}

/// Returns the elements that the session can refer to by alias, on the device it used last.
async fn shown(core: &Arc<Core>, session: &Session) -> Result<Option<Arc<ShownRefs>>> {
    let name = session.name.clone();
    let device = core.store.read_all(move |c| log::last_device(c, &name, None));
    Ok(device.await?.and_then(|device| core.experience.views.shown(session.id, device)))
}

/// Replaces an alias with the title or text of its element. Returns any other text unchanged.
fn resolve_alias(shown: Option<&ShownRefs>, element: String) -> Result<String> {
    if !element.starts_with("@n") {
        return Ok(element);
    }
    let found = shown.and_then(|s| s.find(&element)).map(|r| (r.what.label.title.clone(), r.what.label.text()));
    match found {
        Some((title, text)) if !title.is_empty() || !text.is_empty() => Ok(if title.is_empty() { text } else { title }),
        _ => Err(Error::param(
            "elements",
            "names, or aliases from the session's latest refs whose element has a label",
            element,
        )),
    }
}

/// Properties of an element on the screen.
struct OnScreen {
    /// The element's title, else its text; `None` if it has neither.
    title: Option<String>,
    /// Key of the element's component; `None` if it has no component.
    key: Option<String>,
    /// Number of rows in the list that the element is a row of; `None` for other elements.
    list_rows: Option<i64>,
}

/// Maps the lower-case title, text and resource id of each element on the screen to its component.
fn on_screen(shown: &ShownRefs) -> HashMap<String, OnScreen> {
    let elements = shown.snapshot.elements();
    let mut found_keys: Vec<(Vec<String>, Option<String>, Option<String>)> = Vec::new();
    let mut refs: Vec<_> = shown.numbered().map(|(_, found)| found).collect();
    refs.sort_by_key(|found| found.node);
    for found in refs {
        let Some(node) = shown.snapshot.nodes.get(found.node) else { continue };
        // Only the first row of a list becomes a component; the other rows share its key.
        let alike = |e: &&Element| element::belongs_to_list(&e.key) && e.class == node.class && e.res_id == node.res_id;
        let element = elements.iter().find(|e| e.bounds == node.bounds).or_else(|| elements.iter().find(alike));
        let (title, text) = (found.label.title.clone(), found.label.text());
        let id = node.res_id.as_deref().unwrap_or_default();
        let names = [title.as_str(), text.as_str(), id, id.rsplit('/').next().unwrap_or_default()];
        let names = names.into_iter().filter(|name| !name.is_empty()).map(str::to_lowercase).collect();
        let shown = [title, text].into_iter().find(|text| !text.is_empty());
        found_keys.push((names, shown, element.map(|e| e.key.clone())));
    }
    let rows = |key: &str| {
        i64::try_from(found_keys.iter().filter(|(_, _, k)| k.as_deref() == Some(key)).count()).unwrap_or(i64::MAX)
    };
    let mut map: HashMap<String, OnScreen> = HashMap::new();
    for (names, title, key) in &found_keys {
        for name in names {
            let list_rows = key.as_deref().filter(|k| element::belongs_to_list(k)).map(rows);
            let known = map.entry(name.clone()).or_insert_with(|| OnScreen {
                title: title.clone(),
                key: key.clone(),
                list_rows,
            });
            // A name that several rows share, such as a resource id, is not replaced by the title of one of them.
            if known.title != *title {
                known.title = None;
            }
        }
    }
    map
}

/// `session.tested`: marks elements as tested.
///
/// # Errors
/// `INVALID_PARAMS` if an alias cannot be resolved to a name, or if an element is on no known page and is not declared
/// new.
pub async fn mark(core: &Arc<Core>, params: &TestedParams) -> Result<TestedElements> {
    params.elements.iter().try_for_each(|e| check_text("elements", e, 300))?;
    let session = for_writing(core, params.session()).await?;
    let place = place(&core.store, &session, params.page.as_deref(), params.app.as_deref()).await?;
    let (origin, elements, passed) = (core.store.origin().to_owned(), params.elements.clone(), params.passed);
    let name = session.name.clone();
    let shown = shown(core, &session).await?.filter(|_| params.page.is_none());
    let app = place.app.clone();
    let known = core
        .store
        .read_all(move |c| Ok(app.map(|app| visual::elements(c, &app)).transpose()?.unwrap_or_default()))
        .await?;
    let elements = elements.into_iter().map(|e| resolve_alias(shown.as_deref(), e)).collect::<Result<Vec<String>>>()?;
    let on_screen = shown.map(|s| on_screen(&s)).unwrap_or_default();
    let is_known = |element: &String| {
        known.iter().any(|k| k.is_called(element)) || on_screen.contains_key(&element.to_lowercase())
    };
    if let Some(unknown) = elements.iter().find(|e| !params.new && !is_known(e)) {
        return Err(Error::param(
            "elements",
            "elements of the page in front or of a known page",
            format!("{unknown:?}"),
        )
        .hint(
            "`afctl observe refs` lists the elements; pass `new` (`--new`) if it is an element that afd cannot know",
        ));
    }
    let mark_of = |element: String| {
        let by_name = known.iter().find(|k| k.is_called(&element));
        // A list row is named by its text, but its component by its kind: find it through the key on the screen.
        let here = on_screen.get(&element.to_lowercase());
        let by_label = || here.and_then(|here| here.key.as_ref()).and_then(|key| known.iter().find(|k| &k.key == key));
        Mark {
            list_rows: here.and_then(|here| here.list_rows).filter(|_| by_name.is_none()),
            component: by_name.or_else(by_label).map(|k| (k.uid.clone(), k.name.clone())),
            // One row is one element, whatever name was used for it.
            element: here
                .and_then(|here| here.list_rows.and(here.title.clone()))
                .filter(|_| by_name.is_none())
                .unwrap_or(element),
            app: place.app.clone().unwrap_or_default(),
            page: place.page.clone().unwrap_or_default(),
            state: place.state.clone(),
            passed,
        }
    };
    let marks: Vec<Mark> = elements.into_iter().map(mark_of).collect();
    let work = move |c: &Connection| {
        let marked = marks
            .iter()
            .map(|mark| tested::mark(c, &origin, session.id, mark))
            .collect::<Stored<Vec<TestedElement>>>()?;
        Ok::<_, StoreError>((marked, tested::count(c, session.id)?))
    };
    let (elements, total) = core.store.write_or_refuse(move |c| session::while_active(c, session.id, work)).await?;
    core.session_changed(&name).await;
    Ok(TestedElements { session: name, elements, total })
}
