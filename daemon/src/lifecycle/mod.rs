//! Lifecycle of the daemon process: arguments, single instance, socket, signals, readiness, drain.

mod args;
mod error;
mod heartbeat;
mod hosted;
mod idle;
mod instance;
mod logging;
mod signals;
mod socket;
mod systemd;
mod watch;

use std::io::Write;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::app::Core;
use crate::app::daemon::backups;
use crate::app::daemon::catching_up::{index_messages, rebuild_experience};
use crate::rpc;
use afd_base::config::{Config, Overrides};
use afd_base::model::embed;
use afd_base::task::{failpoint, run_blocking};
use afd_store as store;

pub use args::Args;
pub use error::StartError;
pub use hosted::Hosted;

/// Minimum number of files that the process must be allowed to open: database, log, socket, some phones and clients.
const MIN_DESCRIPTORS: u64 = 64;

/// Refuses to start if the process may open so few files that the database, phones and clients would fail one by one.
fn check_descriptors() -> Result<(), StartError> {
    match rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum {
        Some(most) if most < MIN_DESCRIPTORS => {
            let why = format!(
                "this process may open {most} files, and afd needs at least {MIN_DESCRIPTORS}: raise the limit"
            );
            Err(StartError::System(format!("{why} (`ulimit -n`, or `LimitNOFILE=` in a unit)")))
        }
        _ => Ok(()),
    }
}

/// Runs the daemon until it is asked to stop.
///
/// # Errors
/// If the daemon cannot start, or if it ends because a critical thread panicked. Both are also reported to the
/// readiness socket.
pub fn run(args: Args) -> Result<(), StartError> {
    if let Some(directory) = &args.try_model {
        embed::run_trial(directory);
        return Ok(());
    }
    let log = logging::start(&args);
    if args.detached {
        // A daemon started from a terminal must survive the terminal.
        let _ = rustix::process::setsid();
    }
    if let Some(name) = &args.restore {
        return restore(args.overrides(), Some(name.as_str()).filter(|name| *name != args::NEWEST));
    }
    let started = start(args.overrides());
    if let Err(error) = &started {
        tracing::error!(%error, "cannot start");
        systemd::failed(&error.to_string());
    }
    let (runtime, core, listener, locks) = started?;
    if let Some(file) = &log.file {
        core.runtime.set_log(file.clone());
    }
    let result = runtime.block_on(async {
        signals::listen(&core)?;
        serve(core, listener, &locks, systemd::ready).await
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
    if let Err(error) = &result {
        systemd::failed(&error.to_string());
    }
    result
}

/// Restores a backup while no daemon runs, and prints the result.
fn restore(overrides: Overrides, name: Option<&str>) -> Result<(), StartError> {
    let socket = overrides.socket.clone();
    let settings = Config::load(overrides)?.get();
    let _locks = instance::Locks::acquire(&socket, &settings.database)?;
    let restored = backups::restore(&settings, name, &settings.database)?;
    let line = serde_json::to_string(&restored).map_err(|e| StartError::System(e.to_string()))?;
    // The restore succeeded even if standard output is closed.
    let _ = writeln!(std::io::stdout(), "{line}");
    Ok(())
}

type Started = (tokio::runtime::Runtime, Arc<Core>, socket::BoundSocket, Arc<Mutex<instance::Locks>>);

fn start(overrides: Overrides) -> Result<Started, StartError> {
    afd_proto::paths::check().map_err(StartError::System)?;
    check_descriptors()?;
    let inherited = socket::take_inherited()?;
    let socket_path = overrides.socket.clone();
    let config = Config::load(overrides)?;
    let database = config.get().database.clone();
    // The file is probed first, so that nothing is created next to a file that is not a memory database. A pending
    // restore replaces the file.
    if config.get().memory_required && !backups::is_restore_pending(&database) {
        store::probe(&database).map_err(|error| StartError::of_store(error, &database))?;
    }
    let mut locks = instance::Locks::acquire(&socket_path, &database)?;
    if backups::finish_restore(&database)? {
        tracing::warn!("a restore that was interrupted has been completed");
        locks.lock_database_again(&database)?;
    }
    backups::remove_unfinished(&config.get());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(8)
        .thread_keep_alive(Duration::from_secs(30))
        .enable_all()
        .build()
        .map_err(|e| StartError::System(format!("cannot start the runtime: {e}")))?;
    let entered = runtime.enter();
    let core = Core::open(config).map_err(|error| StartError::of_store(error, &database))?;
    // Clients find the daemon at this path, whatever the settings say.
    let served = inherited.as_ref().and_then(socket::path_of).unwrap_or_else(|| socket_path.clone());
    locks.name_socket(&served);
    core.runtime.set_socket(served);
    let listener = socket::bind(&socket_path, inherited)?;
    drop(entered);
    Ok((runtime, core, listener, Arc::new(Mutex::new(locks))))
}

/// Serves until the daemon is asked to stop. Calls `ready` once the settings are being watched and the socket is about
/// to be served.
async fn serve(
    core: Arc<Core>,
    socket: socket::BoundSocket,
    locks: &Arc<Mutex<instance::Locks>>,
    ready: impl FnOnce(),
) -> Result<(), StartError> {
    // A database that is known to be damaged can still be read.
    let unfinished = match core.close_open_intents().await {
        Err(error) if core.damage().is_some() => {
            tracing::warn!(%error, "actions that a previous daemon left unfinished stay unfinished");
            0
        }
        closed => closed?,
    };
    if unfinished > 0 {
        tracing::warn!(count = unfinished, "actions that a previous daemon left unfinished have an unknown outcome");
    }
    let _watcher = watch::start(&core);
    core.artifacts.watch(&core.tasks).await;
    crate::app::daemon::jobs::start(&core);
    rebuild_experience(&core);
    index_messages(&core);
    crate::app::memory::transfer::resume(&core);
    crate::app::recall::start_indexer(&core);
    crate::app::recall::embed::start(&core);
    crate::app::recall::read_index(&core);
    crate::app::recall::qdrant::start(&core);
    let weak = Arc::downgrade(&core);
    core.tasks.spawn("integrity-check", move || check_integrity(weak.clone()));
    let beating = Arc::downgrade(&core);
    core.tasks.spawn("heartbeat", move || heartbeat::run(beating.clone()));
    let resting = Arc::downgrade(&core);
    core.tasks.spawn("idle", move || idle::run(resting.clone()));
    let watched = core.clone();
    core.tasks.spawn("end-on-failure", move || end_on_failure(Arc::downgrade(&watched), watched.tasks.fatal()));
    ready();
    tracing::info!(socket = %core.runtime.socket().display(), database = %core.store.path().display(), "ready");
    let methods = rpc::methods(&core);
    let place = Arc::new(Mutex::new(socket.place));
    let (again, listeners) = tokio::sync::mpsc::channel(1);
    let (kept, lock) = (place.clone(), locks.clone());
    core.tasks.spawn("socket", move || socket::keep(kept.clone(), lock.clone(), again.clone()));
    let mut stopping = core.runtime.stopping();
    let on_stop = async {
        // An error means that the sender, and with it the daemon, is gone.
        let _ = stopping.wait_for(|stop| *stop).await;
        locks.lock().mark_leaving();
        systemd::stopping();
    };
    let (deadline, ()) = tokio::join!(rpc::serve(core.clone(), methods, socket.listener, listeners), on_stop);
    drain(&core, deadline).await;
    place.lock().remove();
    let failed = core.tasks.fatal().borrow().clone();
    tracing::info!("stopped");
    failed.map_or(Ok(()), |why| Err(StartError::Failed(why)))
}

/// Stops the daemon when a critical thread has panicked.
async fn end_on_failure(core: Weak<Core>, mut fatal: tokio::sync::watch::Receiver<Option<String>>) {
    if fatal.wait_for(Option::is_some).await.is_ok()
        && let Some(core) = core.upgrade()
    {
        core.runtime.request_stop();
    }
}

/// Checks the database some time after startup, so that a long check does not delay the first calls, and whenever an
/// operation finds possible damage.
async fn check_integrity(core: Weak<Core>) {
    failpoint("integrity-check");
    let Some(store) = core.upgrade().map(|core| core.store.clone()) else { return };
    tokio::select! {
        () = tokio::time::sleep(Duration::from_secs(10)) => {}
        () = store.suspected() => {}
    }
    drop(store);
    loop {
        let Some(core) = core.upgrade() else { return };
        // If the database file is gone, a file at its path is a different one.
        if !core.store.is_gone()
            && let Err(error) = core.store.check().await
        {
            tracing::warn!(%error, "cannot check the database");
        }
        if let Some(damage) = core.store.damage().filter(|_| core.must_restart_to_work()) {
            core.tasks.fail(format!("{damage}; the next start works without recording"));
        }
        let store = core.store.clone();
        drop(core);
        store.suspected().await;
    }
}

/// Minimum time for closing the database, which is granted even after the drain deadline.
const LAST_MOMENT: Duration = Duration::from_millis(500);

/// Waits for actions that outlive their connections and for the last writes, until the deadline.
async fn drain(core: &Core, deadline: Instant) {
    while core.runtime.in_flight() > 0 && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let _ = tokio::time::timeout_at(deadline, core.devices.close()).await;
    match tokio::time::timeout_at(deadline, core.store.flush()).await {
        Ok(Ok(())) | Err(_) => {}
        Ok(Err(error)) => tracing::warn!(%error, "cannot flush the database; the last writes may be lost"),
    }
    let store = core.store.clone();
    // Even after the deadline, the database gets a moment to close cleanly.
    let deadline = deadline.into_std().max(std::time::Instant::now() + LAST_MOMENT);
    if let Err(error) = run_blocking(move || store.close(Some(deadline))).await {
        tracing::error!(%error, "cannot close the database");
    }
    core.delete_substitute();
}
