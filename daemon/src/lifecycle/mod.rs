//! From arguments to exit: single instance, socket, signals, readiness, drain.

mod args;
mod error;
mod instance;
mod logging;
mod signals;
mod socket;
mod systemd;
mod watch;

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::Instant;

use crate::config::Config;
use crate::control::Core;
use crate::rpc;
use crate::store::Store;
use crate::task::checkpoint;

pub use args::Args;
pub use error::StartError;

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
    let (runtime, core, listener, locks) = started?;
    let result = runtime.block_on(serve(core, listener, &locks));
    runtime.shutdown_timeout(Duration::from_secs(1));
    if let Err(error) = &result {
        systemd::failed(&error.to_string());
    }
    result
}

type Started = (tokio::runtime::Runtime, Arc<Core>, socket::BoundSocket, instance::Locks);

fn start(args: &Args) -> Result<Started, StartError> {
    let overrides = args.overrides();
    let socket_path = overrides.socket.clone();
    let config = Config::load(overrides)?;
    Store::probe(&config.get().database)?;
    let locks = instance::Locks::take(&socket_path, &config.get().database)?;
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
    Ok((runtime, core, listener, locks))
}

async fn serve(core: Arc<Core>, listener: socket::BoundSocket, locks: &instance::Locks) -> Result<(), StartError> {
    let closed = core.settle().await?;
    if closed > 0 {
        tracing::warn!(count = closed, "actions of a daemon that ended early have an unknown outcome");
    }
    signals::listen(&core)?;
    let _watcher = watch::start(&core);
    core.artifacts.watch(&core.tasks).await;
    crate::control::jobs::start(&core);
    let checked = Arc::downgrade(&core);
    core.tasks.spawn("integrity-check", move || check(checked.clone()));
    let stopper = core.clone();
    core.tasks.spawn("end-on-failure", move || end_on_failure(Arc::downgrade(&stopper), stopper.tasks.fatal()));
    systemd::ready();
    tracing::info!(socket = %core.config.socket().display(), database = %core.store.path().display(), "ready");
    let methods = rpc::methods(&core);
    let (listener, cleanup) = listener.into_parts();
    let mut stopping = core.runtime.stopping();
    let leave = async {
        // Without a sender there is no daemon any more.
        let _ = stopping.wait_for(|stop| *stop).await;
        locks.note_leaving();
        systemd::stopping();
    };
    let (deadline, ()) = tokio::join!(rpc::serve(core.clone(), methods, listener), leave);
    drain(&core, deadline).await;
    cleanup.remove();
    let failed = core.tasks.fatal().borrow().clone();
    tracing::info!("stopped");
    failed.map_or(Ok(()), |why| Err(StartError::Failed(why)))
}

/// Ends the daemon when a part failed that nothing can replace.
async fn end_on_failure(core: Weak<Core>, mut fatal: tokio::sync::watch::Receiver<Option<String>>) {
    if fatal.wait_for(Option::is_some).await.is_ok()
        && let Some(core) = core.upgrade()
    {
        core.runtime.request_stop();
    }
}

/// Checks the database, off the way of the first calls: a large one takes long.
async fn check(core: Weak<Core>) {
    checkpoint("integrity-check");
    tokio::time::sleep(Duration::from_secs(10)).await;
    let Some(core) = core.upgrade() else { return };
    if let Err(error) = core.store.check().await {
        tracing::warn!(%error, "cannot check the database");
    }
}

/// Actions outlive their connections; they and the writer get the rest of the time.
async fn drain(core: &Core, deadline: Instant) {
    while core.runtime.in_flight() > 0 && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    if let Err(error) = core.store.flush().await {
        tracing::warn!(%error, "the last writes may be lost");
    }
    core.store.close();
}
