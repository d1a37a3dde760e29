//! Looks up experience for a place. Pages are named after visual memory states.

use std::cell::RefCell;
use std::collections::HashMap;

use afd_proto::memory::Experience;

use afd_experience::memory::experience::{self, PageName, Query, plain_name};
use afd_experience::memory::pages::Page;
use afd_experience::visual::states;
use afd_store::{Connection, Result};

/// The names of pages that were looked up, because most rows share their pages.
#[derive(Default)]
pub(in crate::app) struct Names(RefCell<HashMap<i64, PageName>>);

impl Names {
    /// Returns the name of a page.
    pub(in crate::app) fn of(&self, connection: &Connection, page: &Page) -> Result<PageName> {
        if let Some(known) = self.0.borrow().get(&page.id) {
            return Ok(known.clone());
        }
        let name = name(connection, page)?;
        self.0.borrow_mut().insert(page.id, name.clone());
        Ok(name)
    }
}

/// Returns the name of a page: its state's name, else a name derived from the page itself.
fn name(connection: &Connection, page: &Page) -> Result<PageName> {
    let state = match page.structure.is_empty() {
        true => None,
        false => states::of_structure(connection, &page.structure)?,
    };
    let plain = plain_name(page);
    Ok(match state {
        Some(state) => PageName { id: Some(state.id), name: state.name.unwrap_or(plain.name), state: state.code },
        None => plain,
    })
}

/// Looks up experience, see [`experience::find`]. All structures of the place's state count as one page.
pub(in crate::app) fn find(connection: &Connection, mut query: Query) -> Result<Experience> {
    if let Some(structure) = &query.place.structure {
        query.state = states::structures_of_same_state(connection, structure)?;
    }
    let names = Names::default();
    experience::find(connection, &query, &|connection, page| names.of(connection, page))
}
