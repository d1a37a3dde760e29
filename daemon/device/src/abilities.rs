//! A device's abilities, and the alternatives suggested for abilities that it lacks.

use std::path::PathBuf;

use afd_proto::keys::KeyName;

use super::handle::Device;
use super::{BadParam, Download, DriverError, Intent, Key, Manages};

impl Device {
    pub(super) fn capabilities(&self) -> Vec<String> {
        let driver = self.driver();
        let optional = [
            ("overlay", driver.overlays().is_some()),
            ("packages", driver.packages().is_some()),
            ("tabs", driver.tabs().is_some()),
            ("files", driver.transfers().is_some()),
            ("shell", driver.shell().is_some()),
            ("intent", driver.intents().is_some()),
            ("manage", self.manages().is_some()),
        ];
        let optional = optional.into_iter().filter(|(_, has)| *has).map(|(name, _)| name);
        driver.capabilities().iter().copied().chain(optional).map(str::to_owned).collect()
    }

    /// Returns whether snapshots of the device contain the elements that are out of sight, and whether elements keep
    /// their node ids.
    pub fn knows_elements(&self) -> bool {
        self.driver().reveals().is_some()
    }

    /// Returns whether a snapshot shows a page that has come to rest, because the device waits for that before it answers.
    pub fn waits_until_still(&self) -> bool {
        self.driver().waits_until_still()
    }

    /// Checks that the device knows the whole page.
    ///
    /// # Errors
    /// [`DriverError::Unsupported`] if it knows only what is in sight.
    pub fn check_whole(&self) -> Result<(), DriverError> {
        match self.knows_elements() {
            true => Ok(()),
            false => Err(self.unsupported("knows only what is in sight", "scroll with act.scroll or act.scrollTo")),
        }
    }

    /// Returns a remark on what the device can type; see [`Driver::typing`](super::Driver::typing).
    pub fn typing(&self) -> Option<&'static str> {
        self.driver().typing()
    }

    /// Returns the key code that devices of this kind use for a named key, or `None` if they have no key codes.
    pub fn key_code(&self, key: KeyName) -> Option<i32> {
        self.driver().key_code(key)
    }

    /// Checks that the device opens apps by their names.
    ///
    /// # Errors
    /// [`DriverError::Unsupported`] if it does not.
    pub fn check_apps(&self) -> Result<(), DriverError> {
        match self.driver().tabs() {
            Some(_) => Err(self.unsupported("has no apps", "open a page by its URL (`package`)")),
            None => Ok(()),
        }
    }

    /// Checks that a name is valid as the name of an app on devices of this kind.
    ///
    /// # Errors
    /// If the name is not valid.
    pub fn check_app(&self, name: &str) -> Result<(), BadParam> {
        self.driver().check_app(name)
    }

    /// Checks that the device supports a key.
    ///
    /// # Errors
    /// [`DriverError::Unsupported`] if the key is given as a key code and devices of this kind have no key codes.
    pub fn check_key(&self, key: Key) -> Result<(), DriverError> {
        match key {
            Key::Code(_) if self.driver().key_code(KeyName::Enter).is_none() => {
                Err(self.unsupported("has no key codes", "press a key by its name, as in `key: \"enter\"`"))
            }
            _ => Ok(()),
        }
    }

    /// Checks the parts of an intent.
    ///
    /// # Errors
    /// [`DriverError::Unsupported`] if devices of this kind do not support intents. The inner result is an error if a
    /// part of the intent is not acceptable.
    pub fn check_intent(&self, intent: &Intent) -> Result<Result<(), BadParam>, DriverError> {
        let intents = self.driver().intents().ok_or_else(|| self.no_intents())?;
        Ok(intents.check(intent))
    }

    /// Checks that the device has a shell.
    ///
    /// # Errors
    /// [`DriverError::Unsupported`] if the device has no shell.
    pub fn check_shell(&self) -> Result<(), DriverError> {
        self.driver().shell().map(|_| ()).ok_or_else(|| self.no_shell())
    }

    fn unsupported(&self, what: &'static str, instead: &'static str) -> DriverError {
        DriverError::Unsupported { kind: self.kind(), what, instead }
    }

    pub(super) fn no_shell(&self) -> DriverError {
        self.unsupported("has no shell", "act on the screen, as with act.tap and act.text")
    }

    pub(super) fn no_intents(&self) -> DriverError {
        self.unsupported("takes no intents", "open the app with act.launch, and act on its screen")
    }

    pub(super) fn no_overlay(&self) -> DriverError {
        self.unsupported("draws no overlay", "take a screenshot with marks: observe.screenshot with `annotate`")
    }

    pub(super) fn no_tabs(&self) -> DriverError {
        self.unsupported("has no tabs", "open an app by its name with act.launch")
    }

    /// Checks that the device has tabs.
    ///
    /// # Errors
    /// [`DriverError::Unsupported`] if it has none.
    pub fn check_tabs(&self) -> Result<(), DriverError> {
        self.driver().tabs().map(|_| ()).ok_or_else(|| self.no_tabs())
    }

    /// Returns the file with a name, to give it to a page. The inner result is an error if pages may not have it.
    ///
    /// # Errors
    /// [`DriverError::Unsupported`] if the device takes no files.
    pub fn file(&self, name: &str) -> Result<Result<PathBuf, BadParam>, DriverError> {
        Ok(self.driver().transfers().ok_or_else(|| self.no_transfers())?.file(name))
    }

    /// Returns the downloads since the last call, after up to `ms` milliseconds if some still run.
    ///
    /// # Errors
    /// [`DriverError::Unsupported`] if the device gives no files, or if it does not respond.
    pub async fn downloads(&self, ms: u64) -> Result<Vec<Download>, DriverError> {
        self.driver().transfers().ok_or_else(|| self.no_transfers())?.downloads(ms).await
    }

    fn no_transfers(&self) -> DriverError {
        self.unsupported("exchanges no files", "use a browser")
    }

    /// Checks that pages of the device can publish tools.
    ///
    /// # Errors
    /// [`DriverError::Unsupported`] if they cannot.
    pub fn check_page_tools(&self) -> Result<(), DriverError> {
        self.driver().page_tools().map(|_| ()).ok_or_else(|| self.no_page_tools())
    }

    pub(super) fn no_page_tools(&self) -> DriverError {
        self.unsupported("has no tools of pages", "act on the screen, as with act.tap and act.fill")
    }

    /// Returns the interface for managing the device.
    ///
    /// # Errors
    /// [`DriverError::Unsupported`] if it cannot be managed.
    pub fn managed(&self) -> Result<&dyn Manages, DriverError> {
        self.manages().ok_or_else(|| self.no_management())
    }

    pub(super) fn no_management(&self) -> DriverError {
        self.unsupported(
            "cannot be managed",
            "connect the phone by adb as well (`adb_serial` in the settings of the device), or use `afctl connect adb`",
        )
    }

    /// Returns what has happened apart from the page in front since this was asked last; `None` if nothing has.
    pub fn news(&self) -> Option<String> {
        self.driver().news()
    }

    pub(super) fn no_packages(&self) -> DriverError {
        self.unsupported("does not list its apps", "open one by its name with act.launch")
    }
}
