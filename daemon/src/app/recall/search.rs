//! Implements `recall.search` and `recall.get`.

use std::sync::Arc;
use std::time::Duration;

use afd_proto::ErrorCode;
use afd_proto::recall::{
    EntryType, RecallEntry, RecallFound, RecallGet, RecallGetParams, RecallSearch, RecallSearchParams, SearchMode,
};
use serde_json::json;

use super::indexed::unindexed;
use super::show::{self, Asked};
use super::{Current, Recall, qdrant};
use crate::app::checks::{check_session, site_name};
use crate::app::session::known;
use crate::app::{Core, Error, Methods, Result};
use afd_base::config::RecallSettings;
use afd_base::model::ModelError;
use afd_base::model::embed::{BUILTIN, Builtin, Embedder};
use afd_recall::entries;
use afd_recall::filtered::name_hash;
use afd_recall::nearest::VectorIndex;
use afd_recall::points::Filters;
use afd_recall::search::{self, Ask, List, QueryVector, Scope};
use afd_recall::text_index::Effort;
use afd_recall::vectors;
use afd_store::{Connection, Reader, Result as Stored, Store, now_ms};
use afd_workspace as session;

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<RecallSearch, _, _>(|core, p| async move { search(&core, &p).await });
    methods.add::<RecallGet, _, _>(|core, p| async move { get(&core, &p).await });
}

/// Weight of the vectors of the configured model, relative to full text.
const MODEL_WEIGHT: f64 = 1.0;
/// Weight of the vectors of the built-in model if the configured model is also used, relative to full text.
const BUILTIN_BESIDE_WEIGHT: f64 = 0.05;
/// Weight of the vectors of the built-in model if it is the only model used, relative to full text.
const BUILTIN_ALONE_WEIGHT: f64 = 0.4;
/// Minimum of `Embedded::known` for a model that knows the query's script, but not its language.
const FOREIGN: f64 = 0.3;

/// A query with its vectors.
#[derive(Clone)]
pub struct Embedded {
    /// Vector of the query, computed by the built-in model.
    pub builtin: Vec<f32>,
    /// Identity of the configured model, and the vector from it.
    pub other: Option<(String, Vec<f32>)>,
    /// How well the configured model knows the language of the query, 0 to 1.
    pub known: f64,
}

impl Embedded {
    /// Computes the vectors of a query. Waits at most `wait` for the model. Also returns a message if a vector is
    /// missing.
    pub async fn of(text: &str, model: Option<&Arc<dyn Embedder>>, wait: Duration) -> (Self, Option<String>) {
        let builtin = Builtin::vector(text);
        let Some(model) = model else { return (Self { builtin, other: None, known: 0.0 }, None) };
        let made = tokio::time::timeout(wait, model.embed_query(text.to_owned())).await;
        let late = || ModelError::Temporary(format!("that of the query was not made within {} ms", wait.as_millis()));
        match made.unwrap_or_else(|_| Err(late())) {
            Ok((vector, known)) => (Self { builtin, other: Some((model.identity().to_owned(), vector)), known }, None),
            Err(error) => {
                (Self { builtin, other: None, known: 0.0 }, Some(format!("vectors of {}: {error}", model.identity())))
            }
        }
    }

    /// Drops a query vector that cannot be compared with the entry vectors, and returns the reason.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn checked(mut self, c: &Connection) -> Stored<(Self, Option<String>)> {
        let Some((identity, vector)) = &self.other else { return Ok((self, None)) };
        let size = vectors::find_model(c, identity)?.map(|model| model.dimensions);
        let why = match size {
            Some(size) if usize::try_from(size).ok() != Some(vector.len()) => Some(format!(
                "vectors of {identity}: it made {} components for the query, and {size} for the entries",
                vector.len()
            )),
            _ => None,
        };
        if why.is_some() {
            self.other = None;
        }
        Ok((self, why))
    }

    /// Returns the identity of the model whose vectors are searched in addition to vectors of the built-in model.
    pub fn identity(&self) -> Option<&str> {
        self.other.as_ref().map(|(identity, _)| identity.as_str())
    }

    /// Returns the identity of the model whose vectors are searched first, and its vector.
    pub fn searched(&self) -> (&str, &[f32]) {
        self.other.as_ref().map_or((BUILTIN, &self.builtin), |(identity, vector)| (identity, vector))
    }

    /// Returns how well the configured model knows the language of the query beyond its script, 0 to 1.
    pub fn fluency(&self) -> f64 {
        ((self.known - FOREIGN) / (1.0 - FOREIGN)).max(0.0)
    }

    /// Returns whether the configured model knows at least the script of the query.
    pub fn knows_script(&self) -> bool {
        self.known >= FOREIGN
    }

    /// Returns the vector lists to search, given the row ids of the models.
    pub fn lists(&self, builtin: Option<i64>, other: Option<i64>) -> Vec<QueryVector> {
        let mut lists = Vec::new();
        if let Some((model, (_, vector))) = other.zip(self.other.as_ref()) {
            lists.push(QueryVector {
                model,
                vector: vector.clone(),
                weight: MODEL_WEIGHT * self.known,
                list: List::Vectors,
            });
        }
        if let Some(model) = builtin {
            let weight = if lists.is_empty() { BUILTIN_ALONE_WEIGHT } else { BUILTIN_BESIDE_WEIGHT };
            lists.push(QueryVector { model, vector: self.builtin.clone(), weight, list: List::Builtin });
        }
        lists
    }
}

/// Implements `recall.search`.
///
/// # Errors
/// If a parameter is invalid, or `NOT_FOUND` if there is no such session.
pub async fn search(core: &Arc<Core>, params: &RecallSearchParams) -> Result<RecallFound> {
    search_with(core, params, show::EXCERPT).await
}

/// Searches like `recall.search`. Longer texts are cut to `excerpt` characters.
///
/// # Errors
/// Those of [`search`].
pub async fn search_with(core: &Arc<Core>, params: &RecallSearchParams, excerpt: usize) -> Result<RecallFound> {
    let (limit, session) = check(params)?;
    let site = params.site.as_deref().map(site_name).transpose()?;
    let params = RecallSearchParams { site, ..params.clone() };
    let of_session = match &params.of_session {
        Some(name) => Some(known(core, name).await?.id),
        None => None,
    };
    let settings = core.config.get().recall.clone();
    let mode = params.mode.unwrap_or(SearchMode::Hybrid);
    let wait = Duration::from_millis(settings.search_wait_ms);
    let current = current_model(core, &settings, wait).await;
    let (embedded, failed) =
        Embedded::of(&params.query, current.model.as_ref().filter(|_| mode != SearchMode::Text), wait).await;
    // If the configured model cannot be used, vectors of the built-in model replace its vectors. Qdrant has no vectors
    // of the built-in model then.
    let usable = mode != SearchMode::Text && current.error.is_none() && failed.is_none();
    let mut missing: Vec<String> = current.error.into_iter().chain(failed).collect();
    let model = embedded.identity().unwrap_or(BUILTIN).to_owned();
    let mut answer = None;
    if usable && settings.qdrant_url.is_some() {
        let filters = filters(&core.store, &params, of_session).await?;
        let (answered, without) = qdrant::ask(&core.recall, &settings, embedded.searched(), &filters, limit).await;
        answer = answered;
        missing.extend(without);
    }
    Recall::read_first(core, embedded.identity()).await?;
    let half_life_days = settings.half_life_days as f64;
    let search = Search { params, limit, excerpt, session, of_session, mode, half_life_days, embedded, answer };
    let own = core.clone();
    let found = core.store.read_all(move |c| search.run(&own, c)).await?;
    missing.extend(found.unusable);
    missing.extend(found.unindexed);
    if found.emptied > 0 {
        missing
            .push(format!("exact vectors of {model} for {} of the entries found, which are made again", found.emptied));
    }
    if found.pending > 0 {
        missing.push(format!("vectors of {model} for {} entries, which are still being made", found.pending));
    }
    let (own, ids) = (core.clone(), found.used);
    // Stale vectors of the entries found are computed again.
    core.store.try_write_behind("what was recalled", move |c| entries::used(c, &ids), move |()| own.recall.nudge());
    Ok(RecallFound { entries: found.entries, model, missing })
}

/// Checks the parameters of a search, and returns the number of results and the name of the asking session.
fn check(params: &RecallSearchParams) -> Result<(usize, String)> {
    if let Some((since, until)) = params.since.zip(params.until).filter(|(since, until)| since > until) {
        return Err(Error::param("since", &format!("a time before until ({until})"), since));
    }
    let session = params.session().to_owned();
    check_session(&session)?;
    Ok((params.limit() as usize, session))
}

/// A search that now needs only the database. The query vectors and Qdrant's response are already available.
struct Search {
    params: RecallSearchParams,
    /// Maximum number of results.
    limit: usize,
    /// Maximum length of a result's text, in characters.
    excerpt: usize,
    /// Name of the asking session.
    session: String,
    /// Row id of the session whose entries are searched; `None` for entries of all sessions.
    of_session: Option<i64>,
    mode: SearchMode,
    half_life_days: f64,
    embedded: Embedded,
    /// Qdrant's response to the query, if there is one.
    answer: Option<qdrant::Answer>,
}

/// Result of a search.
struct Found {
    entries: Vec<RecallEntry>,
    /// Row ids of the entries that were found.
    used: Vec<i64>,
    /// Number of entries whose vectors are still to be computed.
    pending: usize,
    /// Number of entries found whose vectors were emptied, because they were not used for long.
    emptied: usize,
    /// Reason why the query vector was dropped; `None` if it was not dropped.
    unusable: Option<String>,
    /// Message that entries are not in the index yet; `None` if all are.
    unindexed: Option<String>,
}

impl Search {
    fn run(self, core: &Core, c: &Connection) -> Stored<Found> {
        let asking = session::find(c, &self.session)?;
        let scope = self.scope(c, asking)?;
        let Self { params, limit, excerpt, mode, half_life_days, .. } = self;
        let resolved = self.answer.map(|answer| answer.resolve(c, core.store.origin(), &params.tags));
        let resolved = resolved.transpose()?;
        let (embedded, unusable) = self.embedded.checked(c)?;
        let (ranked, pending, emptied) = core.recall.with_index(c, embedded.identity(), |index, builtin, other| {
            // If the model has no vectors in this store, vectors from other stores are searched.
            let unused = resolved.as_ref().map(|resolved| resolved.model).filter(|model| *model < 0);
            let (builtin, other) = match embedded.identity() {
                None => (builtin.or(unused), other),
                Some(_) => (builtin, other.or(unused)),
            };
            let ask = Ask {
                text: params.query.clone(),
                vectors: embedded.lists(builtin, other),
                fluency: embedded.fluency(),
                knows_script: embedded.knows_script(),
                mode,
                scope,
                effort: Effort::SEARCH,
                half_life_days,
                limit,
                fold: true,
            };
            let answered = resolved.as_ref().map(|resolved| resolved.beside(index));
            let vectors: &dyn VectorIndex = answered.as_ref().map_or(index, |answered| answered);
            let complete =
                embedded.identity().is_none_or(|identity| core.recall.is_complete(identity, index.version()));
            // A model without any vectors lacks vectors for all entries.
            let lacking = || other.map_or(index.corpus().entries, |model| index.without_sketch(model));
            let pending = if complete { 0 } else { lacking() };
            let ranked = search::run(c, vectors, index.corpus(), &ask)?;
            let own = ranked.iter().map(|hit| hit.entry).filter(|id| *id > 0);
            let emptied = other.map_or(Ok(0), |model| vectors::count_emptied(c, model, own))?;
            Ok((ranked, pending, emptied))
        })?;
        let asked = Asked { query: &params.query, session: asking, explain: params.explain(), excerpt };
        let foreign = resolved.map(|resolved| resolved.entries).unwrap_or_default();
        let entries = show::found(c, &ranked, &asked, &foreign)?;
        let used = ranked.iter().map(|hit| hit.entry).filter(|id| *id > 0).collect();
        Ok(Found { entries, used, pending, emptied, unusable, unindexed: unindexed(c)? })
    }

    /// Returns the filter for the entries to search, given the row id of the asking session.
    fn scope(&self, c: &Connection, asking: Option<i64>) -> Stored<Scope> {
        let params = &self.params;
        Ok(Scope {
            reader: Reader::of(asking),
            types: types(params),
            app: params.app.as_deref().map(name_hash),
            site: params.site.as_deref().map(name_hash),
            of_session: self.of_session,
            only: (!params.tags.is_empty()).then(|| entries::tagged(c, &params.tags)).transpose()?,
            since: params.since,
            until: params.until,
            expires_until: params.expires_until,
            now: now_ms(),
            archived: params.archived(),
            ..Scope::default()
        })
    }
}

/// Returns the configured model. Waits at most `wait` for it.
async fn current_model(core: &Arc<Core>, settings: &RecallSettings, wait: Duration) -> Current {
    let (own, settings) = (core.clone(), settings.clone());
    // A separate task loads the model, so that a large model is loaded completely for the next search.
    let read = tokio::spawn(async move { own.recall.model(&settings).await });
    match tokio::time::timeout(wait, read).await {
        Ok(Ok(current)) => current,
        Ok(Err(panic)) => Current { model: None, error: Some(format!("the model cannot be read: {panic}")) },
        Err(_) => Current { model: None, error: Some("the model is still being read".to_owned()) },
    }
}

/// Returns the filters for a Qdrant query.
async fn filters(store: &Store, p: &RecallSearchParams, of_session: Option<i64>) -> Result<Filters> {
    let session = match of_session {
        Some(id) => Some(store.read_all(move |c| session::uid_of(c, id)).await?),
        None => None,
    };
    Ok(Filters {
        types: p.types.clone(),
        app: p.app.clone(),
        site: p.site.clone(),
        session,
        tags: p.tags.clone(),
        since: p.since,
        until: p.until,
        expires_until: p.expires_until,
        now: now_ms(),
        archived: p.archived(),
    })
}

/// Returns the types of entries that a search returns. Messages are left out if the search is limited to entries about
/// something, which messages are not said to be about, unless messages are asked for.
fn types(p: &RecallSearchParams) -> Vec<EntryType> {
    let filtered = p.app.is_some()
        || p.site.is_some()
        || !p.tags.is_empty()
        || p.of_session.is_some()
        || p.expires_until.is_some();
    if p.types.is_empty() && filtered {
        return EntryType::ALL.iter().copied().filter(|kind| *kind != EntryType::Message).collect();
    }
    p.types.clone()
}

/// Implements `recall.get`.
///
/// # Errors
/// `NOT_FOUND` if there is no such entry that the session may see.
pub async fn get(core: &Arc<Core>, params: &RecallGetParams) -> Result<RecallEntry> {
    let session = params.session().to_owned();
    check_session(&session)?;
    let uid = params.uid.clone();
    let found = core.store.read_all(move |c| {
        let asking = session::find(c, &session)?;
        let told = entries::find(c, &uid)?.map(|source| show::told(c, &source, asking)).transpose()?.flatten();
        Ok((told, entries::id_of(c, &uid)?.is_some()))
    });
    let found = match found.await? {
        // An entry that was deleted here is not looked up in Qdrant.
        (None, false) => qdrant::get(core, &params.uid).await.map_err(|why| no_entry(&params.uid).hint(why))?,
        (told, _) => told,
    };
    found.ok_or_else(|| no_entry(&params.uid))
}

/// Returns the error for an entry that does not exist, or that the session may not see.
pub fn no_entry(uid: &str) -> Error {
    Error::new(ErrorCode::NotFound, format!("no such entry: {uid:?}"))
        .hint("`afctl recall search` finds entries with their uids; messages are in `afctl conversation list`")
        .details(json!({"uid": uid}))
}
