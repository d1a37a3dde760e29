//! Experience of a place, with its pages named by the states that the visual memory knows.

use std::cell::RefCell;
use std::collections::HashMap;

use afd_proto::memory::Experience;

use afd_experience::memory::experience::{self, PageName, Query, plain_name};
use afd_experience::memory::pages::Page;
use afd_experience::visual::states;
use afd_store::{Connection, Result};

/// Names a page by its state, else by what is known of the page itself.
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

/// Looks up experience, see [`experience::find`]. The structures of the state that the place shows count as one page.
pub(in crate::app) fn find(connection: &Connection, mut query: Query) -> Result<Experience> {
    if let Some(structure) = &query.place.structure {
        query.state = states::structures_of_same_state(connection, structure)?;
    }
    // Most rows share their pages.
    let names: RefCell<HashMap<i64, PageName>> = RefCell::default();
    let name_once = |connection: &Connection, page: &Page| {
        if let Some(known) = names.borrow().get(&page.id) {
            return Ok(known.clone());
        }
        let name = name(connection, page)?;
        names.borrow_mut().insert(page.id, name.clone());
        Ok(name)
    };
    experience::find(connection, &query, &name_once)
}
