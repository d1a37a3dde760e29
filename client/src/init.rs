//! `afctl init`: adds the first device, prompts for everything that the options do not give, and finally shows the
//! device's screen.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use afd_proto::config::{ConfigSet, SetParams};
use afd_proto::device::{
    AddParams, AddResult, ConnectAdbParams, ConnectUsbParams, DeviceAdd, DeviceConnectAdb, DeviceConnectUsb,
    DeviceHealth, DeviceList, DeviceParams, DeviceRemove, RemoveParams,
};
use afd_proto::observe::{Format, ObservePage, PageParams};
use afd_proto::vocabulary::NoParams;
use afd_proto::{Method, Secret};
use clap::{ArgMatches, Args, FromArgMatches, ValueEnum};
use serde_json::{Value, json};

use crate::ask;
use crate::output::print;
use afd_link::dial::{self, Purpose, Retry};
use afd_link::options::Context;
use afd_link::outcome::{FAILED, Failure, Outcome, USAGE};
use afd_link::{request_key, spawn};

/// Token of the practice phone. It is not secret.
const PRACTICE_TOKEN: &str = "practice";
/// Hint on where to get the phone's app.
const APP: &str =
    "the phone's app is `memohai/Autofish` on GitHub; start its service and take URL and token from its first page";

/// What to connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// A practice phone on this machine, to try afd without a device
    Practice,
    /// A phone on the network with the Autofish app
    Url,
    /// A phone on USB with the Autofish app
    Usb,
    /// Any Android phone or emulator that adb lists; nothing is installed on it
    Adb,
    /// A Chromium or Chrome on this machine
    Browser,
}

/// Options for `init`.
#[derive(Debug, Args)]
pub struct Init {
    /// What to connect [default: ask]
    #[arg(value_enum)]
    kind: Option<Kind>,
    /// Page that a browser shows first; `practice` starts a practice site on this machine [default: example.com]
    #[arg(value_name = "PAGE")]
    page: Option<String>,
    /// Name of the device in the configuration [default: practice, phone or browser]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Use a browser on this machine that runs already, at its debugging address; it was started with an option such as
    /// --remote-debugging-port=9222
    #[arg(long, value_name = "ADDRESS")]
    attach: Option<String>,
    /// Prompt for the token; without a terminal, read it from standard input
    #[arg(long, conflicts_with = "token")]
    ask_token: bool,
}

/// Runs the command.
///
/// # Errors
/// If the arguments are invalid. Later errors are printed as a failure.
pub fn run(matches: &ArgMatches, context: &Context) -> Result<u8, clap::Error> {
    let init = Init::from_arg_matches(matches)?;
    let result = Setup { context }.all(&init).map(|data| serde_json::value::to_raw_value(&data).unwrap_or_default());
    let outcome = Outcome { category: "init".into(), op: "init".into(), result, render: Some(rendered), only: None };
    print(&outcome, context.global.output);
    Ok(outcome.exit())
}

/// Returns the parameters that all browsers have in common.
fn browser_params() -> AddParams {
    AddParams { kind: Some("browser".to_owned()), persist: true, ..AddParams::default() }
}

fn rendered(data: &Value) -> Option<String> {
    let name = data["device"].as_str()?;
    let found = data["found"].as_str().unwrap_or("connection not checked");
    let mut text = format!("added {name}; {found}\n");
    if let Some(outline) = data["look"].as_str() {
        text += &format!("\n{outline}\n");
    }
    for next in data["next"].as_array().into_iter().flatten() {
        text += &format!("\nnext: {}", next.as_str()?);
    }
    Some(text)
}

struct Setup<'a> {
    context: &'a Context,
}

impl Setup<'_> {
    fn all(&self, init: &Init) -> Result<Value, Failure> {
        let (mut next, mut running) = (Vec::new(), None);
        let kind = self.kind(init)?;
        if init.page.is_some() && kind != Kind::Browser {
            return Err(Failure::new("INVALID_PARAMS", "only a browser has a page that it shows first", USAGE));
        }
        if init.attach.is_some() && kind != Kind::Browser {
            return Err(Failure::new("INVALID_PARAMS", "--attach: only a browser has a debugging address", USAGE));
        }
        let added = match kind {
            Kind::Practice => self.practice(init, &mut next, &mut running)?,
            Kind::Url => self.url(init)?,
            Kind::Usb => self.usb(init)?,
            Kind::Adb => self.call::<DeviceConnectAdb>(&ConnectAdbParams {
                serial: self.context.global.device.clone(),
                name: init.name.clone(),
            })?,
            Kind::Browser if init.page.as_deref() == Some("practice") => self.site(init, &mut next, &mut running)?,
            Kind::Browser => self.browser(init)?,
        };
        let (name, trial) = (added.device.name, added.trial);
        let mut data = json!({"device": name, "url": added.device.url, "savedIn": added.saved_in});
        if let Some(pid) = running {
            data[if kind == Kind::Browser { "sitePid" } else { "phonePid" }] = json!(pid);
        }
        if init.attach.is_some() {
            let device = if name == "browser" { String::new() } else { format!(" -d {name}") };
            next.push(format!("`afctl device tabs{device}` lists your tabs; `afctl tab t1{device}` uses one of them"));
        }
        let usable = trial.as_ref().is_none_or(|trial| trial.usable);
        if let Some(trial) = &trial {
            data["found"] = json!(trial.found);
            next.extend(trial.hint.as_ref().map(|hint| hint.replace("NAME", &name)));
        }
        if usable {
            let params = PageParams { device: Some(name), format: Some(Format::Outline), ..PageParams::default() };
            let page = self.call::<ObservePage>(&params)?;
            data["look"] = json!(page.body.context.outline);
            next.push(
                "`afctl tap LABEL` acts on what you see; `afctl setup claude-code` lets an agent do it".to_owned(),
            );
        }
        data["next"] = json!(next);
        Ok(data)
    }

    /// Returns what to connect: the argument, else `url` if a URL was given, else the user's answer.
    fn kind(&self, init: &Init) -> Result<Kind, Failure> {
        if let Some(kind) = init.kind.or(self.context.address.url.as_ref().map(|_| Kind::Url)) {
            return Ok(kind);
        }
        let question = "What do you want to connect?\n  1  a practice phone on this machine, to try afd\n  2  a phone on the network \
                        (Autofish)\n  3  a phone on a USB cable (Autofish)\n  4  a browser on this machine (Chromium or Chrome)\n  \
                        5  any Android phone or emulator that adb lists\n1 to 5 [1]: ";
        let answer = ask::word(question).map_err(unreadable)?;
        match answer.as_deref() {
            Some("" | "1") => Ok(Kind::Practice),
            Some("2") => Ok(Kind::Url),
            Some("3") => Ok(Kind::Usb),
            Some("4") => Ok(Kind::Browser),
            Some("5") => Ok(Kind::Adb),
            Some(other) => Err(Failure::new("INVALID_PARAMS", format!("expected 1 to 5, got {other:?}"), USAGE)),
            None => Err(Failure::new("INVALID_PARAMS", "no terminal to ask at: name practice, url, usb, adb or browser", USAGE)
                .with_hint("afctl init practice; or afctl init url --url http://PHONE:8081 --ask-token; or afctl init usb --ask-token")),
        }
    }

    fn practice(&self, init: &Init, next: &mut Vec<String>, running: &mut Option<u64>) -> Result<AddResult, Failure> {
        let name = init.name.clone().unwrap_or_else(|| "practice".to_owned());
        let health = DeviceParams { device: Some(name.clone()), ..DeviceParams::default() };
        let works = |_: &str| self.call::<DeviceHealth>(&health).is_ok();
        let url = self.practice_url(&name, (Practice::Phone, works), next, running)?;
        self.add(name, url, Some(Secret::new(PRACTICE_TOKEN)))
    }

    fn site(&self, init: &Init, next: &mut Vec<String>, running: &mut Option<u64>) -> Result<AddResult, Failure> {
        let name = init.name.clone().unwrap_or_else(|| "browser".to_owned());
        let works = |url: &str| port_of(url).is_some_and(is_practice_site);
        let url = self.practice_url(&name, (Practice::Site, works), next, running)?;
        // The list of devices has the address without its path.
        let url = format!("{}/", url.trim_end_matches('/'));
        self.add_device(AddParams { name, url, attach: init.attach.clone(), ..browser_params() })
    }

    /// Returns the URL of the practice phone or site of a device. Starts it, if it does not run.
    fn practice_url(
        &self,
        name: &str,
        (what, works): (Practice, impl Fn(&str) -> bool),
        next: &mut Vec<String>,
        running: &mut Option<u64>,
    ) -> Result<String, Failure> {
        let known = self.call::<DeviceList>(&NoParams {})?.devices.into_iter().find(|device| device.name == name);
        let known = known.map(|known| known.url).filter(|url| url.contains("://127.0.0.1:"));
        if let Some(url) = known.as_ref().filter(|url| works(url)) {
            return Ok(url.clone());
        }
        let (url, pid) = start_practice(what, known.as_deref().and_then(port_of).unwrap_or(0))?;
        *running = Some(pid);
        let again = if what == Practice::Site { "browser practice" } else { "practice" };
        next.push(format!(
            "the practice {} runs as process {pid} until you stop it (kill {pid}); `afctl init {again}` starts it again",
            what.name()
        ));
        if known.is_some_and(|known| known.trim_end_matches('/') != url.trim_end_matches('/')) {
            if what == Practice::Site {
                let message = format!("the name {name} belongs to a device with another address");
                return Err(Failure::new("CONFLICT", message, FAILED).with_hint("choose another name: --name NAME"));
            }
            self.call::<DeviceRemove>(&RemoveParams { name: name.to_owned() })?;
        }
        Ok(url)
    }

    fn url(&self, init: &Init) -> Result<AddResult, Failure> {
        let url = match &self.context.address.url {
            Some(url) => url.clone(),
            None => {
                let _ = writeln!(std::io::stderr(), "{APP}");
                let answer =
                    ask::word("URL shown in the app, for example http://192.168.1.20:8081: ").map_err(unreadable)?;
                answer.filter(|url| !url.is_empty()).ok_or_else(|| {
                    Failure::new("INVALID_PARAMS", "missing --url: expected the base URL of the phone's service", USAGE)
                        .with_hint(APP)
                })?
            }
        };
        self.add(init.name.clone().unwrap_or_else(|| "phone".to_owned()), url, Some(self.token(init)?))
    }

    fn browser(&self, init: &Init) -> Result<AddResult, Failure> {
        let empty = init.attach.as_ref().map(|_| "about:blank");
        let page = init.page.as_deref().or(empty).unwrap_or("https://example.com");
        let is_whole = page.contains("://") || page == "about:blank";
        let url = if is_whole { page.to_owned() } else { format!("https://{page}") };
        let name = init.name.clone().unwrap_or_else(|| "browser".to_owned());
        self.add_device(AddParams { name, url, attach: init.attach.clone(), ..browser_params() })
    }

    fn usb(&self, init: &Init) -> Result<AddResult, Failure> {
        let params = ConnectUsbParams {
            serial: self.context.global.device.clone(),
            name: init.name.clone(),
            ..ConnectUsbParams::default()
        };
        let connected = self.call::<DeviceConnectUsb>(&params)?;
        let token = self.token(init)?;
        let key = format!("device.{}.token", connected.device);
        self.call::<ConfigSet>(&SetParams { key, value: token.clone() })?;
        self.add(connected.device, connected.remote_url, Some(token))
    }

    fn token(&self, init: &Init) -> Result<Secret, Failure> {
        match &self.context.address.token {
            Some(token) if !init.ask_token => Ok(Secret::new(token.as_str())),
            _ => ask::token(),
        }
    }

    fn add(&self, name: String, url: String, token: Option<Secret>) -> Result<AddResult, Failure> {
        self.add_device(AddParams { name, url, token, persist: true, ..AddParams::default() })
    }

    fn add_device(&self, params: AddParams) -> Result<AddResult, Failure> {
        match self.call::<DeviceAdd>(&params) {
            Err(failure) if failure.code == "CONFLICT" => {
                let question = format!("{}. Replace it? [y/N] ", failure.message);
                if !ask::yes(&question).map_err(unreadable)? {
                    return Err(failure);
                }
                self.call::<DeviceRemove>(&RemoveParams { name: params.name.clone() })?;
                self.call::<DeviceAdd>(&params)
            }
            added => added,
        }
    }

    fn call<M: Method>(&self, params: &M::Params) -> Result<M::Result, Failure> {
        let mut params = serde_json::to_value(params).map_err(|e| unreadable(e.to_string()))?;
        if M::INFO.takes_request_key() {
            params["requestKey"] = json!(request_key::request_key());
        }
        let result = dial::call(&self.context.global, Purpose::Call, Retry::Safe, |_| {}, M::INFO.name, &params)?;
        serde_json::from_str(result.get()).map_err(|e| unreadable(e.to_string()))
    }
}

fn unreadable(error: String) -> Failure {
    Failure::new("INTERNAL", error, FAILED)
}

/// What `afphone` practises with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Practice {
    Phone,
    Site,
}

impl Practice {
    fn name(self) -> &'static str {
        if self == Practice::Site { "site" } else { "phone" }
    }
}

/// Returns whether the server at a port of this machine is a practice site.
fn is_practice_site(port: u16) -> bool {
    let asked = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(Duration::from_secs(2)))?;
        stream.write_all(b"GET /site.js HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")?;
        let mut answer = Vec::new();
        stream.take(100_000).read_to_end(&mut answer)?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    };
    asked().is_ok_and(|answer| answer.contains("Harbour Tea"))
}

fn port_of(url: &str) -> Option<u16> {
    url.rsplit(':').next()?.trim_end_matches('/').parse().ok()
}

/// Starts a practice phone or site that outlives this program; returns its URL and process id.
fn start_practice(what: Practice, port: u16) -> Result<(String, u64), Failure> {
    use std::os::unix::process::CommandExt;
    let program = spawn::program("afphone");
    let failed = |why: String| {
        Failure::new(
            "INTERNAL",
            format!("cannot start the practice {} {}: {why}", what.name(), program.display()),
            FAILED,
        )
        .with_hint("install afphone next to afctl, or in a directory of PATH")
    };
    let mut command = Command::new(&program);
    match what {
        Practice::Phone => command.args(["--open", "com.android.settings", "--port", &port.to_string()]),
        Practice::Site => command.args(["--site", &port.to_string()]),
    };
    // In its own process group, it is not stopped by Ctrl-C at this terminal.
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|e| failed(e.to_string()))?;
    let mut line = String::new();
    let read = child.stdout.take().map(|out| BufReader::new(out).read_line(&mut line));
    let ready: Value = serde_json::from_str(&line).unwrap_or_default();
    let url = if what == Practice::Site { &ready["site"] } else { &ready["url"] };
    match (read, url.as_str(), ready["pid"].as_u64()) {
        (Some(Ok(_)), Some(url), Some(pid)) => Ok((url.to_owned(), pid)),
        _ if port != 0 => start_practice(what, 0),
        _ => Err(failed("it did not become ready".to_owned())),
    }
}
