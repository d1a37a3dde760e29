//! Which part of a page an observation returns: what is in sight, the whole page, what comes after the elements that
//! were returned before, or a named part.

use afd_screen::page::outline::{Item, quoted};
use afd_screen::page::section;

use super::screen_capture::ScreenCapture;
use crate::app::{Call, Error, Result};

/// Maximum length of a name in an error, in characters.
const MAX_NAME: usize = 60;

/// Requested part of a page.
#[derive(Debug, Clone, Default)]
pub(in crate::app) struct PagePart {
    /// Whether the whole page is requested, with what is scrolled out of sight.
    pub whole: bool,
    /// Whether the elements after those that were returned before are requested.
    pub more: bool,
    /// Name of the requested part.
    pub within: Option<String>,
}

impl PagePart {
    /// Returns whether a part other than what is in sight is requested.
    pub(super) fn is_some(&self) -> bool {
        self.whole || self.more || self.within.is_some()
    }

    /// Checks that the parameters fit together, and that the device knows the part.
    ///
    /// # Errors
    /// If they do not, or if it does not.
    pub(super) fn check(&self, has_since: bool, call: &Call) -> Result<()> {
        if self.more && has_since {
            return Err(Error::param("more", "no `since` beside it", "both"));
        }
        if self.within.is_some() && (self.more || has_since) {
            let expected = "no `since` and no `more` beside it; `maxRows` returns more of a part";
            return Err(Error::param("within", expected, "both"));
        }
        if self.whole {
            call.device().check_whole()?;
        }
        Ok(())
    }

    /// Returns the items in the requested part.
    ///
    /// # Errors
    /// If there is not exactly one part with that name.
    pub(super) fn restrict(&self, capture: &ScreenCapture, items: Vec<Item>) -> Result<Vec<Item>> {
        let Some(name) = &self.within else { return Ok(items) };
        let part = section::named(capture.snapshot(), name).map_err(|count| {
            let names: Vec<String> =
                items.iter().filter(|item| item.heading).map(|item| quoted(&item.label, MAX_NAME)).collect();
            let found =
                if count == 0 { "no part of the page".to_owned() } else { format!("{count} parts of the page") };
            let known = if names.is_empty() { String::new() } else { format!(" (headings: {})", names.join(", ")) };
            Error::param(
                "within",
                &format!("the text of a heading, or the name or kind of one area{known}"),
                format!("{}, which is the name of {found}", quoted(name, MAX_NAME)),
            )
        })?;
        let mut items: Vec<Item> = items.into_iter().filter(|item| part.contains(&item.node)).collect();
        let least = items.iter().map(|item| item.depth).min().unwrap_or_default();
        items.iter_mut().for_each(|item| item.depth -= least);
        Ok(items)
    }
}
