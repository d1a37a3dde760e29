//! Targets: descriptions of nodes by their properties, which stay valid after the observation from which they were
//! made.

use std::collections::{HashMap, HashSet};

use afd_proto::vocabulary::{Action, By, Role, Target, TargetSelector, Verb};

use super::label;
use super::snapshot::{Flag, Node, Snapshot};

/// Maximum length of a title, in characters.
pub const MAX_TITLE: usize = 80;

/// Shortens a title to [`MAX_TITLE`] characters. A shortened title ends with an ellipsis.
pub fn short(title: &str) -> String {
    match title.char_indices().nth(MAX_TITLE) {
        Some((end, _)) => format!("{}…", title[..end].trim_end()),
        None => title.to_owned(),
    }
}

/// Cuts text to at most `max` characters.
pub(super) fn cut_to(text: &str, max: usize) -> String {
    text.chars().take(max).collect()
}

/// Returns whether `title` equals the full title `full` or is a shortened form of it, which ends with an ellipsis.
pub fn is_title_of(title: &str, full: &str) -> bool {
    title == full || title.strip_suffix('…').is_some_and(|start| full.starts_with(start))
}

/// Returns the title of a target. Older descriptions have only a label, whose first part is the title.
pub fn title(target: &Target) -> Option<&str> {
    let first = || target.label.as_deref().map(|l| l.split(", ").next().unwrap_or(l));
    target.title.as_deref().or_else(first)
}

/// Returns the index of the ref that a description refers to, if exactly one ref equals it in role, title, resource id,
/// class, path in the hierarchy, and ordinal number among equal nodes.
pub fn locate(snapshot: &Snapshot, refs: &[super::Ref], wanted: &Target) -> Option<usize> {
    let node = |r: &super::Ref| &snapshot.nodes[r.node];
    let titled = |r: &super::Ref| match title(wanted) {
        Some(title) => is_title_of(title, &r.label.title),
        None => r.label.title.is_empty(),
    };
    // Descriptions from other tools have fewer properties.
    let given = |a: &Option<String>, b: &Option<String>| a.is_none() || a == b;
    let is_id = |r: &super::Ref| {
        given(&wanted.res_id, &node(r).res_id)
            && (wanted.res_id.is_some() || wanted.class.is_none() || node(r).res_id.is_none())
    };
    let alike = |r: &super::Ref| is_id(r) && (wanted.role == Role::Any || node(r).role == wanted.role) && titled(r);
    let candidates: Vec<usize> = (0..refs.len()).filter(|i| alike(&refs[*i])).collect();
    let same = |i: &usize| {
        let there = describe(snapshot, refs[*i].node);
        given(&wanted.class, &there.class)
            && given(&wanted.path, &there.path)
            && (there.ordinal == wanted.ordinal || wanted.ordinal.is_none())
    };
    let mut found = candidates.into_iter().filter(same);
    found.next().filter(|_| found.next().is_none())
}

/// Returns whether a visible node has exactly this description. The node need not be a ref.
pub fn is_in_sight(snapshot: &Snapshot, wanted: &Target) -> bool {
    let key = key(wanted);
    let may_be = |node: &Node| {
        node.is(Flag::Visible)
            && wanted.class.as_ref().is_none_or(|class| *class == node.class)
            && node.res_id == wanted.res_id
    };
    let mut candidates = (0..snapshot.nodes.len()).filter(|index| may_be(&snapshot.nodes[*index]));
    candidates.any(|index| self::key(&describe(snapshot, index)) == key)
}

/// Returns a selector that matches only this element among the refs, by label or resource id. Returns `None` if there
/// is no such selector.
pub fn selector(snapshot: &Snapshot, refs: &[super::Ref], index: usize) -> Option<TargetSelector> {
    let of = |by, value| Some(TargetSelector { by: Some(by), value: Some(value), ..TargetSelector::default() });
    let own = refs.iter().find(|r| r.node == index)?;
    let (title, text) = (&own.label.title, own.label.text());
    let only = |is: &dyn Fn(&super::Ref) -> bool| refs.iter().filter(|r| is(r)).count() == 1;
    let folded = |text: &str| text.to_lowercase();
    if !title.is_empty()
        && only(&|r| folded(&r.label.title) == folded(title) || folded(&r.label.text()) == folded(title))
    {
        return of(By::Label, title.clone());
    }
    if !text.is_empty() && only(&|r| folded(&r.label.text()) == folded(&text)) {
        return of(By::Label, text);
    }
    let id = snapshot.nodes[index].res_id.clone()?;
    if only(&|r| snapshot.nodes[r.node].res_id.as_deref() == Some(&id)) { of(By::ResId, id) } else { None }
}

/// Returns whether scrolling may bring a described element into sight: a visible scroll container is part of its path
/// in the hierarchy.
pub fn may_scroll_to(snapshot: &Snapshot, wanted: &Target) -> bool {
    let Some(path) = &wanted.path else { return false };
    let scrolls = |n: &Node| n.is(Flag::Scrollable) && n.is(Flag::Visible);
    snapshot
        .nodes
        .iter()
        .filter(|n| scrolls(n))
        .any(|n| path.split('/').any(|part| part == n.id_name().unwrap_or(&n.class)))
}

/// Returns the description of a node. Nodes that are equal in all other properties are numbered.
pub fn describe(snapshot: &Snapshot, index: usize) -> Target {
    let mut target = without_ordinal(snapshot, index);
    let twins: Vec<usize> = (0..snapshot.nodes.len())
        .filter(|i| {
            let (a, b) = (&snapshot.nodes[*i], &snapshot.nodes[index]);
            a.class == b.class
                && a.res_id == b.res_id
                && a.is_ref() == b.is_ref()
                && is_twin(&without_ordinal(snapshot, *i), &target)
        })
        .collect();
    if twins.len() > 1 {
        target.ordinal = twins.iter().position(|i| *i == index).and_then(|at| u32::try_from(at).ok());
    }
    target
}

/// Returns the descriptions of several nodes, as [`describe`] does for each. The work grows with the number of nodes, not with its
/// square.
pub fn describe_each(snapshot: &Snapshot, indices: &[usize]) -> Vec<Target> {
    type Kind<'a> = (&'a str, Option<&'a str>, bool);
    fn kind(node: &Node) -> Kind<'_> {
        (&node.class, node.res_id.as_deref(), node.is_ref())
    }
    let kinds: HashSet<Kind<'_>> = indices.iter().map(|index| kind(&snapshot.nodes[*index])).collect();
    let mut targets: HashMap<usize, Target> = HashMap::new();
    let mut twins: HashMap<(Kind<'_>, String), Vec<usize>> = HashMap::new();
    for (index, node) in snapshot.nodes.iter().enumerate().filter(|(_, node)| kinds.contains(&kind(node))) {
        let target = without_ordinal(snapshot, index);
        // Twins may differ in the changing part of their labels.
        let same = format!("{}|{:?}|{:?}", target.role, target.title, target.path);
        twins.entry((kind(node), same)).or_default().push(index);
        targets.insert(index, target);
    }
    for equal in twins.values().filter(|equal| equal.len() > 1) {
        for (at, index) in equal.iter().enumerate() {
            if let Some(target) = targets.get_mut(index) {
                target.ordinal = u32::try_from(at).ok();
            }
        }
    }
    indices.iter().map(|index| targets.get(index).cloned().unwrap_or_else(|| describe(snapshot, *index))).collect()
}

/// Returns whether two descriptions are equal in role, title and path. The changing part of their labels is ignored.
fn is_twin(a: &Target, b: &Target) -> bool {
    (a.role, &a.title, &a.path) == (b.role, &b.title, &b.path)
}

fn without_ordinal(snapshot: &Snapshot, index: usize) -> Target {
    let node = &snapshot.nodes[index];
    let words = label::of(snapshot, index);
    let label = words.text();
    let mut path: Vec<&str> =
        snapshot.ancestors(index).map(|a| &snapshot.nodes[a]).map(|n| n.id_name().unwrap_or(&n.class)).collect();
    path.reverse();
    Target {
        role: node.role,
        label: (!label.is_empty()).then_some(label),
        title: (!words.title.is_empty()).then(|| short(&words.title)),
        name: None,
        res_id: node.res_id.clone(),
        class: Some(node.class.clone()),
        path: (!path.is_empty()).then(|| path.join("/")),
        ordinal: None,
    }
}

/// Returns a key that is equal for all descriptions of the same target. It consists of the title and the stable
/// properties of the target. The changing part of the label is left out.
pub fn key(target: &Target) -> String {
    let title = title(target).unwrap_or_default();
    let part = |v: &Option<String>| v.clone().unwrap_or_default();
    let ordinal = target.ordinal.map(|o| o.to_string()).unwrap_or_default();
    format!("{}|{title}|{}|{}|{}|{ordinal}", target.role, part(&target.res_id), part(&target.class), part(&target.path))
}

/// Returns a key that is equal for equivalent actions. A point counts only if there is no target; it is rounded down to
/// a multiple of 32 pixels.
pub fn action_key(action: &Action) -> String {
    let what = match (&action.target, &action.point) {
        (Some(target), _) => key(target),
        (None, Some(p)) => format!("@{},{}", (p.x / 32.0).floor(), (p.y / 32.0).floor()),
        (None, None) => String::new(),
    };
    let params = serde_json::to_string(&action.params).unwrap_or_default();
    format!("{}|{what}|{params}|{}", action.verb, action.slots.join(","))
}

/// Returns whether the outcome of a verb depends on the page in front. Opening or stopping an app and the like do not: where
/// they lead depends on the app.
pub fn depends_on_page(verb: Verb) -> bool {
    matches!(
        verb,
        Verb::Tap
            | Verb::LongPress
            | Verb::DoubleTap
            | Verb::Hover
            | Verb::Swipe
            | Verb::Drag
            | Verb::Scroll
            | Verb::ScrollTo
            | Verb::Back
            | Verb::Key
            | Verb::Text
            | Verb::Fill
            | Verb::Upload
            | Verb::PageTool
    )
}

/// Returns whether an action may have an effect that does not show on the page: typed text is not part of a page's content, and
/// neither are the focus and the keyboard.
pub fn has_hidden_effect(action: &Action) -> bool {
    let is_field = action.target.as_ref().is_some_and(|target| target.role == Role::Field);
    is_field || matches!(action.verb, Verb::Text | Verb::Fill | Verb::Key | Verb::Upload)
}

/// Describes an action in one line.
pub fn sentence(action: &Action) -> String {
    let verb = match action.verb {
        Verb::LongPress => "long-press",
        Verb::DoubleTap => "double-tap",
        other => other.word(),
    };
    let role = |t: &Target| if t.role == Role::Any { String::new() } else { format!(" {}", t.role) };
    let what =
        action.target.as_ref().map(|t| match (title(t), t.res_id.as_deref().and_then(|id| id.rsplit('/').next())) {
            (Some(title), _) => format!("{} {title:?}", role(t)),
            (None, Some(id)) => format!("{} #{id}", role(t)),
            (None, None) => role(t),
        });
    let params: Vec<String> = action
        .params
        .iter()
        .map(|(k, v)| format!(" {k}={}", v.as_str().map_or_else(|| v.to_string(), str::to_owned)))
        .collect();
    let point = match (&action.target, &action.point) {
        (None, Some(p)) => format!(" at {},{}", p.x, p.y),
        _ => String::new(),
    };
    format!("{verb}{}{point}{}", what.unwrap_or_default(), params.concat())
}
