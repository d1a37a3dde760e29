//! `afphone`: serves a practice phone on loopback ports.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use afd_phone::recording::{Recording, play::Player};
use afd_phone::{Setup, app, clock::Clock, start};
use clap::{Parser, ValueEnum};
use serde_json::json;

/// A practice phone: a simulator of the Autofish service that needs no device.
///
/// Prints one line of JSON with its URLs when it is ready. Then runs until it is stopped or, with --until-eof, until
/// standard input ends.
#[derive(Debug, Parser)]
#[command(name = "afphone", version)]
struct Args {
    /// Port of the service; 0 picks a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Port of the control interface; 0 picks a free one
    #[arg(long, default_value_t = 0)]
    control_port: u16,
    /// Port that simulates USB, for `adb connect 127.0.0.1:PORT`; 0 picks a free one; no USB by default
    #[arg(long)]
    adb_port: Option<u16>,
    /// Time that a dump of the screen over adb takes, in milliseconds; real phones take about a second
    #[arg(long, value_name = "MS", default_value_t = 0)]
    dump_ms: u64,
    /// Port of the practice site, a shop for browsers; 0 picks a free one; no site by default
    #[arg(long, value_name = "PORT")]
    site: Option<u16>,
    /// Bearer token
    #[arg(long, default_value = "practice", env = "AFPHONE_TOKEN", hide_env_values = true)]
    token: String,
    /// Service version to imitate: d1 is 0.2.1, d2 is 0.3.0 to 0.5
    #[arg(long, value_enum, default_value = "d2")]
    dialect: Dialect,
    /// Seed for list order and pop-up timing; 0 keeps the lists in order and the pop-ups unshifted
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Whether the clock runs in real time or is advanced only through the control interface
    #[arg(long, value_enum, default_value = "real")]
    clock: ClockKind,
    /// Additional app, as a JSON file; repeatable
    #[arg(long, value_name = "FILE")]
    app: Vec<PathBuf>,
    /// Dump of a screen to show instead of the apps: the XML of `uiautomator dump`, or a page source of Appium
    #[arg(long, value_name = "FILE", conflicts_with = "open")]
    dump: Option<PathBuf>,
    /// Recording to play instead of the apps: the part of the names that PREFIX.states.jsonl.gz and PREFIX.steps.jsonl.gz
    /// share
    #[arg(long, value_name = "PREFIX", conflicts_with_all = ["open", "dump", "app"])]
    recording: Option<PathBuf>,
    /// Time after which the pages of a recording come, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 0, requires = "recording")]
    late_ms: u32,
    /// App to open at startup
    #[arg(long, value_name = "PACKAGE")]
    open: Option<String>,
    /// Exit when standard input ends
    #[arg(long)]
    until_eof: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Dialect {
    D1,
    D2,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ClockKind {
    Real,
    Manual,
}

fn main() -> ExitCode {
    let args = Args::parse();
    match run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("afphone: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: Args) -> Result<(), String> {
    let mut setup = Setup::new(&args.token);
    setup.seed = args.seed;
    setup.dump_ms = args.dump_ms;
    setup.dialect = if matches!(args.dialect, Dialect::D1) { 1 } else { 2 };
    setup.clock = Arc::new(if matches!(args.clock, ClockKind::Real) { Clock::real() } else { Clock::manual() });
    for file in &args.app {
        let text = std::fs::read_to_string(file).map_err(|e| format!("cannot read {}: {e}", file.display()))?;
        setup.apps.push(app::parse(&text).map_err(|e| format!("{}: {e}", file.display()))?);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|e| e.to_string())?;
    runtime.block_on(async {
        let mut running =
            start(setup, args.port, args.control_port).await.map_err(|e| format!("cannot listen: {e}"))?;
        if let Some(package) = &args.open
            && !afd_phone::server::lock(&running.phone).show_page(package, None)
        {
            return Err(format!("no such app: {package:?}"));
        }
        if let Some(file) = &args.dump {
            let read = std::fs::read_to_string(file).map_err(|e| format!("cannot read {}: {e}", file.display()))?;
            let shown = afd_phone::dump::parse(&read).map_err(|e| format!("{}: {e}", file.display()))?;
            afd_phone::server::lock(&running.phone).shown = Some(shown);
        }
        if let Some(prefix) = &args.recording {
            let recording = Arc::new(Recording::read(prefix)?);
            let all = 0..recording.steps.len();
            let player = Player::new(recording, all, args.late_ms)?;
            afd_phone::server::lock(&running.phone).player = Some(player);
        }
        let mut ready =
            json!({"url": running.url(), "control": format!("http://{}", running.control), "pid": std::process::id()});
        if let Some(port) = args.adb_port {
            let address = running.attach_usb(port).await.map_err(|e| format!("cannot listen: {e}"))?;
            ready["adb"] = json!(address.to_string());
        }
        let mut site = None;
        if let Some(port) = args.site {
            let running = afd_phone::site::start(port).await.map_err(|e| format!("cannot listen: {e}"))?;
            ready["site"] = json!(format!("http://{}/", running.address));
            site = Some(running);
        }
        println!("{ready}");
        let _ = std::io::stdout().flush();
        if args.until_eof {
            let _ = tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink())).await;
        } else {
            std::future::pending::<()>().await;
        }
        drop(site);
        Ok(())
    })
}
