//! Opens an app by its name: one whose package is named like it, else the one with this label on the home screen.

use std::time::Duration;

use afd_proto::ErrorCode;
use afd_proto::vocabulary::By;
use serde_json::json;

use super::scroll::{Search, SearchOutcome};
use super::target_spec::TargetSpec;
use crate::app::observe::screen_capture::ScreenCapture;
use crate::app::{Call, Error, Result};
use afd_device::{DeviceGuard, DriverError, Input};
use afd_experience::memory::events::Event;
use afd_screen::page::select::Gesture;

/// Maximum duration of the search on the home screen.
const SEARCH: Duration = Duration::from_secs(30);

impl Call {
    /// Opens the app with a name.
    ///
    /// # Errors
    /// `DEVICE_ERROR` with the candidates if several apps have the name, `TARGET_NOT_FOUND` if none has.
    pub(super) async fn open_named(&self, guard: &DeviceGuard, name: &str, event: &mut Event) -> Result<SearchOutcome> {
        event.sent = false;
        let named = match self.device().managed() {
            Ok(manages) => manages.apps_named(name).await?,
            Err(_) => Vec::new(),
        };
        match named.as_slice() {
            [app] => {
                let result = self.send(guard, vec![Input::Launch(app.clone())], event).await;
                let result = result.inspect(|_| event.sent = true)?;
                Ok(SearchOutcome { result, resolved: None, scrolls: 0 })
            }
            [] => self.open_from_home(guard, name, event).await,
            several => {
                Err(Error::new(ErrorCode::TargetAmbiguous, format!("{} apps are named {name:?}", several.len()))
                    .hint("open one of them by its package")
                    .details(json!({"path": "name", "packages": several})))
            }
        }
    }

    /// Presses Home, and taps the app's icon, which may be out of sight.
    async fn open_from_home(&self, guard: &DeviceGuard, name: &str, event: &mut Event) -> Result<SearchOutcome> {
        let before = event.before.clone();
        self.send(guard, vec![Input::Home], event).await?;
        event.sent = true;
        let opened = self.tap_icon(guard, name, event).await;
        // The search notes the page that it scrolls, which is not the one on which the action began.
        (event.before, event.sent) = (before, true);
        opened.map_err(|error| match error.code {
            ErrorCode::TargetNotFound => {
                Error { message: format!("no app is named {name:?}, and the home screen shows no such label"), ..error }
                    .hint("`afctl app list --include-system` lists the packages; open the app by its package")
            }
            ErrorCode::DeviceUnreachable => {
                DriverError::Lost(format!("Home was pressed, then the connection failed: {}", error.message)).into()
            }
            _ => error,
        })
    }

    /// Taps the icon of an app on the home screen. It waits until that stands still, so that nothing of the app before is tapped.
    async fn tap_icon(&self, guard: &DeviceGuard, name: &str, event: &mut Event) -> Result<SearchOutcome> {
        let home = self.capture_settled(guard).await?;
        let search = Search { text: name.to_owned(), by: None, exact: true, only_down: true, timeout: SEARCH };
        let found = self.search(guard, &search, event).await?;
        let capture = ScreenCapture::of(guard.tree(self.target.token.as_ref()).await?, false, false);
        if capture.place().app != home.place().app {
            return Err(Error::new(ErrorCode::TargetNotFound, "another app came to the front"));
        }
        let spec = TargetSpec::named(By::Label, name, (true, false), None)?;
        let target = self.find_target(&spec, &capture, Gesture::Tap)?;
        let tap = self.on_target(Input::Tap(target.point.x, target.point.y).into(), Some(&target));
        let result = self.send_commands(guard, vec![tap], event).await;
        event.sent = true;
        Ok(SearchOutcome { result: result?, resolved: Some(target), scrolls: found.scrolls })
    }
}
