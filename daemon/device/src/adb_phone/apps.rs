//! Installed apps, the shell and intents of a phone.

use std::time::Duration;

use afd_proto::Secret;

use super::AdbPhone;
use super::remote::{of_input, refused};
use super::shell::{quoted, script};
use crate::adb::RunError;
use crate::android;
use crate::{BadParam, DriverError, DriverFuture, Intent, Intents, Packages, Shell};

impl Packages for AdbPhone {
    fn packages<'a>(
        &'a self,
        _: Option<&'a Secret>,
        filter: Option<&'a str>,
        system: bool,
    ) -> DriverFuture<'a, Vec<String>> {
        Box::pin(async move {
            let which = if system { "" } else { " -3" };
            let output = self.remote.query(&format!("pm list packages --user 0{which} 2>&1")).await?;
            if !output.contains("package:") && !output.trim().is_empty() {
                return Err(refused(&output, 0));
            }
            let names = output.lines().filter_map(|line| line.trim().strip_prefix("package:"));
            let filter = filter.unwrap_or_default().to_lowercase();
            let mut names: Vec<String> =
                names.filter(|name| name.to_lowercase().contains(&filter)).map(str::to_owned).collect();
            names.sort();
            Ok(names)
        })
    }
}

impl Shell for AdbPhone {
    fn run<'a>(&'a self, _: Option<&'a Secret>, command: &'a Secret, ms: u32) -> DriverFuture<'a, String> {
        Box::pin(async move {
            // A shell of its own, so that an error of syntax ends only that one.
            let script = script(&format!("sh -c {} </dev/null 2>&1", quoted(command.expose())));
            let within = Duration::from_millis(ms.into());
            let output = self.remote.run(&script.text, &script.mark, within).await;
            let output = output.map_err(|error| match error {
                RunError::Late(why) => DriverError::Unanswered(why),
                error => of_input(error),
            })?;
            let (output, code) = script.result(&String::from_utf8_lossy(&output));
            match code {
                Some(0) => Ok(output),
                Some(code) => Err(refused(&output, code)),
                None => Err(DriverError::Lost("the phone's shell ended before the command".to_owned())),
            }
        })
    }
}

impl Intents for AdbPhone {
    fn check(&self, intent: &Intent) -> Result<(), BadParam> {
        android::check_intent(intent)
    }

    fn send<'a>(&'a self, _: Option<&'a Secret>, intent: &'a Intent) -> DriverFuture<'a, String> {
        Box::pin(async move {
            let mut command = "am start".to_owned();
            let parts = [("-a", &intent.action), ("-d", &intent.data), ("-n", &intent.component)];
            for (option, part) in parts {
                part.iter().for_each(|part| command.push_str(&format!(" {option} {}", quoted(part))));
            }
            for (name, value) in &intent.extras {
                command.push_str(&format!(" --es {} {}", quoted(name), quoted(value)));
            }
            intent.package.iter().for_each(|package| command.push_str(&format!(" -p {}", quoted(package))));
            self.remote.act(&command, Duration::ZERO, 1).await
        })
    }
}
