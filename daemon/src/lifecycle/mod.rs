//! From arguments to exit: single instance, socket, signals, readiness, drain.

mod args;
mod instance;
mod logging;
mod signals;
mod socket;
mod systemd;
mod watch;

use std::time::Duration;

use tokio::time::Instant;

use crate::config::Config;
use crate::control::Core;
use crate::rpc;
use crate::store::Store;

pub use args::Args;

/// Why the daemon did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Another daemon serves this socket or this database.
    #[error("{0}")]
    Taken(String),
    /// The socket cannot be made.
    #[error("the socket {path} cannot be used: {why}")]
    Socket {
        /// Where.
        path: String,
        /// Why.
        why: String,
    },
    /// The settings are bad.
    #[error("the settings are refused: {0}")]
    Config(#[from] crate::config::ConfigError),
    /// The database cannot be used.
    #[error(transparent)]
    Store(#[from] crate::store::StoreError),
    /// The machine refuses something that is needed.
    #[error("{0}")]
    System(String),
}

/// Runs the daemon until it is told to stop.
///
/// # Errors
/// [`StartError`] when it cannot start. Whoever waits for its readiness is told as well.
pub fn run(args: Args) -> Result<(), StartError> {
    logging::start(&args);
    if args.detached {
        // A daemon that a terminal started must not end with it.
        let _ = rustix::process::setsid();
    }
    let started = start(&args);
    if let Err(error) = &started {
        tracing::error!(%error, "cannot start");
        systemd::failed(&error.to_string());
    }
    let (runtime, core, listener, _locks) = started?;
    let result = runtime.block_on(serve(core, listener));
    runtime.shutdown_timeout(Duration::from_secs(1));
    result
}

type Started = (tokio::runtime::Runtime, std::sync::Arc<Core>, socket::Bound, [instance::Lock; 2]);

fn start(args: &Args) -> Result<Started, StartError> {
    let overrides = args.overrides();
    let socket_path = overrides.socket.clone();
    let config = Config::load(overrides)?;
    Store::probe(&config.get().database)?;
    let socket_lock = instance::lock_socket(&socket_path)?;
    let database_lock = instance::lock_database(&config.get().database)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(8)
        .thread_keep_alive(Duration::from_secs(30))
        .enable_all()
        .build()
        .map_err(|e| StartError::System(format!("cannot start the runtime: {e}")))?;
    let _inside = runtime.enter();
    let core = Core::open(config)?;
    let listener = socket::bind(&socket_path)?;
    drop(_inside);
    Ok((runtime, core, listener, [socket_lock, database_lock]))
}

async fn serve(core: std::sync::Arc<Core>, listener: socket::Bound) -> Result<(), StartError> {
    let reopened = core.take_up().await?;
    if reopened > 0 {
        tracing::warn!(count = reopened, "actions of a daemon that ended early have an unknown outcome");
    }
    signals::listen(&core)?;
    let _watcher = watch::start(&core);
    core.artifacts.watch().await;
    crate::control::jobs::start(&core);
    let checked = core.clone();
    tokio::spawn(async move {
        // Off the way of the first calls: a large database takes long to check.
        tokio::time::sleep(Duration::from_secs(10)).await;
        if let Err(error) = checked.store.check().await {
            tracing::warn!(%error, "cannot check the database");
        }
    });
    systemd::ready();
    tracing::info!(socket = %core.config.socket().display(), database = %core.store.path().display(), "ready");
    let methods = rpc::methods(&core);
    let (listener, cleanup) = listener.into_parts();
    let deadline = rpc::serve(core.clone(), methods, listener).await;
    systemd::stopping();
    drain(&core, deadline).await;
    cleanup.remove();
    tracing::info!("stopped");
    Ok(())
}

/// Actions outlive their connections; they and the writer get the rest of the time.
async fn drain(core: &Core, deadline: Instant) {
    while core.in_flight() > 0 && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    if let Err(error) = core.store.flush().await {
        tracing::warn!(%error, "the last writes may be lost");
    }
    core.store.close();
}
