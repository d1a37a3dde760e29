//! Experience of a place, with its pages named by the states that the visual memory knows.

use afd_proto::memory::Experience;
use rusqlite::Connection;

use crate::memory::experience::{self, PageName, Query, plain_name};
use crate::memory::pages::Page;
use crate::store::Result;
use crate::visual::states;

/// Names a page by its state, else by what is known of the page itself.
pub(super) fn name(connection: &Connection, page: &Page) -> Result<PageName> {
    let state = match page.structure.is_empty() {
        true => None,
        false => states::of_structure(connection, &page.structure)?,
    };
    let plain = plain_name(page);
    Ok(match state {
        Some(state) => PageName { name: state.name.unwrap_or(plain.name), state: state.code },
        None => plain,
    })
}

/// Looks up experience, see [`experience::find`]. The structures of the state that the place shows count as one page.
pub(super) fn find(connection: &Connection, mut query: Query) -> Result<Experience> {
    if let Some(structure) = &query.place.structure {
        query.state = states::structures_of_same_state(connection, structure)?;
    }
    experience::find(connection, &query, &name)
}
