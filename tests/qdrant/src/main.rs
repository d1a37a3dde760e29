//! Qdrant's own storage and search (`qdrant-edge`) behind the part of its REST interface that afd uses, for tests:
//! `afd-qdrant [DIRECTORY] [PORT]` listens on the loopback and prints its URL. Without a directory the collections are
//! in a temporary one. It refuses what Qdrant refuses, with its statuses and words; the key in `AFD_QDRANT_KEY` is
//! asked for if there is one.

mod collection;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use serde_json::{Value, json};

use collection::{Collection, Refusal, bad};

/// Maximum size of a request, as Qdrant's settings have it, bytes.
const MAX_REQUEST: usize = 32 << 20;

struct Engine {
    dir: PathBuf,
    collections: Mutex<HashMap<String, Arc<Collection>>>,
    key: Option<String>,
}

impl Engine {
    fn open(dir: PathBuf) -> std::io::Result<Self> {
        let mut collections = HashMap::new();
        for entry in std::fs::read_dir(&dir)? {
            let entry = entry?;
            if let Ok(collection) = Collection::open(&entry.path()) {
                collections.insert(entry.file_name().to_string_lossy().into_owned(), Arc::new(collection));
            }
        }
        let key = std::env::var("AFD_QDRANT_KEY").ok().filter(|key| !key.is_empty());
        Ok(Self { dir, collections: Mutex::new(collections), key })
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Arc<Collection>>> {
        self.collections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, name: &str) -> Result<Arc<Collection>, Refusal> {
        let found = self.all().get(name).cloned();
        found.ok_or_else(|| (StatusCode::NOT_FOUND, format!("Not found: Collection `{name}` doesn't exist!")))
    }

    fn create(&self, name: &str, body: Value) -> Result<Value, Refusal> {
        if name.is_empty() || name.len() > 255 || name.contains(['<', '>', ':', '"', '/', '\\', '|', '?', '*', '\0', '\u{1f}']) {
            return Err((StatusCode::UNPROCESSABLE_ENTITY, format!("Validation error in path parameters: [name: {name:?}]")));
        }
        let mut all = self.all();
        if all.contains_key(name) {
            return Err((StatusCode::CONFLICT, format!("Wrong input: Collection `{name}` already exists!")));
        }
        all.insert(name.to_owned(), Arc::new(Collection::create(&self.dir.join(name), body)?));
        Ok(json!(true))
    }

    fn remove(&self, name: &str) -> Result<Value, Refusal> {
        // Held to the end: one of the same name must not be created while its directory is being removed.
        let mut all = self.all();
        let removed = all.remove(name);
        if let Some(collection) = &removed {
            collection.close();
            std::fs::remove_dir_all(self.dir.join(name)).map_err(|e| (StatusCode::INTERNAL_SERVER_ERROR, e.to_string()))?;
        }
        Ok(json!(removed.is_some()))
    }
}

/// Runs work of the engine on a thread that may wait for the disk, and answers as Qdrant does.
async fn answer(work: impl FnOnce() -> Result<Value, Refusal> + Send + 'static) -> Response {
    let started = Instant::now();
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.unwrap_or_else(|panic| Err((StatusCode::INTERNAL_SERVER_ERROR, format!("Service internal error: {panic}"))));
    let time = started.elapsed().as_secs_f64();
    match done {
        Ok(result) => axum::Json(json!({"result": result, "status": "ok", "time": time})).into_response(),
        Err((status, error)) => (status, axum::Json(json!({"status": {"error": error}, "time": time}))).into_response(),
    }
}

/// Returns the JSON of a body; Qdrant wants its type to be named.
fn json_of(headers: &HeaderMap, body: &Bytes) -> Result<Value, Refusal> {
    let named = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).is_some_and(|v| v.starts_with("application/json"));
    if !named {
        return Err((StatusCode::BAD_REQUEST, "Content type error".to_owned()));
    }
    let value: Value = serde_json::from_slice(body).map_err(|e| (StatusCode::BAD_REQUEST, format!("Format error in JSON body: {e}")))?;
    if value.is_object() { Ok(value) } else { Err(bad("the body is no object")) }
}

type Shared = State<Arc<Engine>>;

async fn check_key(State(engine): Shared, request: Request, next: Next) -> Response {
    let given = request.headers().get("api-key").and_then(|key| key.to_str().ok());
    match &engine.key {
        Some(_) if given.is_none() => {
            (StatusCode::UNAUTHORIZED, "Must provide an API key or an Authorization bearer token").into_response()
        }
        Some(key) if given != Some(key) => (StatusCode::UNAUTHORIZED, "Invalid API key or JWT").into_response(),
        _ => next.run(request).await,
    }
}

async fn list(State(engine): Shared) -> Response {
    answer(move || {
        let mut names: Vec<String> = engine.all().keys().cloned().collect();
        names.sort();
        Ok(json!({"collections": names.iter().map(|name| json!({"name": name})).collect::<Vec<_>>()}))
    })
    .await
}

async fn describe(State(engine): Shared, Path(name): Path<String>) -> Response {
    answer(move || engine.get(&name)?.info()).await
}

async fn create(State(engine): Shared, Path(name): Path<String>, headers: HeaderMap, body: Bytes) -> Response {
    answer(move || engine.create(&name, json_of(&headers, &body)?)).await
}

async fn remove(State(engine): Shared, Path(name): Path<String>) -> Response {
    answer(move || engine.remove(&name)).await
}

async fn point(State(engine): Shared, Path((name, id)): Path<(String, String)>) -> Response {
    answer(move || engine.get(&name)?.get(&id)).await
}

/// Returns a handler of a request with a body, about a collection.
macro_rules! about {
    ($method:ident) => {
        |State(engine): Shared, Path(name): Path<String>, headers: HeaderMap, body: Bytes| async move {
            answer(move || engine.get(&name)?.$method(json_of(&headers, &body)?)).await
        }
    };
}

fn routes(engine: Arc<Engine>) -> Router {
    Router::new()
        .route("/", get(async || axum::Json(json!({"title": "qdrant - vector search engine", "version": "edge 0.7.2"}))))
        .route("/readyz", get(async || "all shards are ready"))
        .route("/collections", get(list))
        .route("/collections/{name}", get(describe).put(create).delete(remove))
        .route("/collections/{name}/index", put(about!(index)))
        .route("/collections/{name}/points", put(about!(upsert)))
        .route("/collections/{name}/points/delete", post(about!(delete)))
        .route("/collections/{name}/points/query", post(about!(query)))
        .route("/collections/{name}/points/scroll", post(about!(scroll)))
        .route("/collections/{name}/points/count", post(about!(count)))
        .route("/collections/{name}/points/{id}", get(point))
        .layer(DefaultBodyLimit::max(MAX_REQUEST))
        .layer(middleware::from_fn_with_state(engine.clone(), check_key))
        .with_state(engine)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let temporary = tempfile::tempdir()?;
    let dir = args.next().filter(|dir| !dir.is_empty()).map_or_else(|| temporary.path().to_owned(), PathBuf::from);
    let port: u16 = args.next().map_or(Ok(0), |port| port.parse())?;
    std::fs::create_dir_all(&dir)?;
    let engine = Arc::new(Engine::open(dir)?);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    println!("http://{}", listener.local_addr()?);
    let mut terminated = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    let ended = async move {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminated.recv() => {}
        }
    };
    axum::serve(listener, routes(engine)).with_graceful_shutdown(ended).await?;
    Ok(())
}
