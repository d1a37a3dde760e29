//! A part of a page, found by its name: what a heading is about, or the content of a list or an area.

use std::ops::Range;

use super::folding::fold;
use super::snapshot::{Flag, Snapshot, Trait};

/// Returns the nodes of the part of a page with a name: the text of a heading, the name of an area, or its kind, such as
/// `main` or `navigation`. The part below a heading ends at the next heading, or with the area that both are in.
///
/// # Errors
/// Returns the number of parts with that name if there is not exactly one.
pub fn named(snapshot: &Snapshot, name: &str) -> Result<Range<usize>, usize> {
    let wanted = fold(name);
    let is_shown = |i: &usize| snapshot.nodes[*i].is(Flag::Visible) && snapshot.is_content(&snapshot.nodes[*i]);
    let has = |text: &Option<String>| text.as_deref().is_some_and(|text| fold(text) == wanted);
    let is_called = |i: &usize| has(&snapshot.nodes[*i].text) || has(&snapshot.nodes[*i].desc);
    let all = || (0..snapshot.nodes.len()).filter(is_shown).map(|i| (i, part(snapshot, i)));
    let parts = || all().filter(|(i, part)| part.len() > 1 && is_called(i));
    let headings: Vec<Range<usize>> =
        parts().filter(|(i, _)| snapshot.nodes[*i].has(Trait::Heading)).map(|(_, part)| part).collect();
    let found = match headings.is_empty() {
        false => headings,
        true => all().filter(|(i, _)| snapshot.nodes[*i].class == wanted).map(|(_, part)| part).collect(),
    };
    let found = match found.is_empty() {
        false => found,
        true => parts().map(|(_, part)| part).collect(),
    };
    // An area may have the name of the area around it.
    let outer: Vec<&Range<usize>> =
        found.iter().filter(|p| !found.iter().any(|o| o != *p && o.start <= p.start && o.end >= p.end)).collect();
    match outer.as_slice() {
        [part] => Ok((*part).clone()),
        several => Err(several.len()),
    }
}

/// Returns the part of the page that a node begins.
fn part(snapshot: &Snapshot, index: usize) -> Range<usize> {
    let own = snapshot.subtree(index);
    if !snapshot.nodes[index].has(Trait::Heading) {
        return own;
    }
    let end = snapshot.nodes[index].parent.map_or(snapshot.nodes.len(), |area| snapshot.subtree(area).end);
    let next = (own.end..end).find(|i| snapshot.nodes[*i].has(Trait::Heading) && snapshot.nodes[*i].is(Flag::Visible));
    index..next.unwrap_or(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::snapshot::Traits;
    use crate::page::tests::long_list;

    #[test]
    fn a_heading_names_what_follows_it() {
        let mut page = long_list(6);
        let texts: Vec<usize> = (0..page.nodes.len()).filter(|i| page.nodes[*i].text.is_some()).collect();
        let (first, second) = (texts[0], texts[4]);
        texts.iter().for_each(|i| page.nodes[*i].parent = Some(0));
        for (i, text) in [(first, "Search results"), (second, "Related")] {
            page.nodes[i].traits = Traits::default().with(Trait::Heading, true);
            page.nodes[i].text = Some(text.to_owned());
        }
        let part = named(&page, "search  RESULTS").expect("one part");
        assert!(part.start == first && part.contains(&texts[1]), "{part:?}");
        assert_eq!(named(&page, "nowhere"), Err(0));
    }
}
