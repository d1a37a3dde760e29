//! The keys of the memory must be the same in every version, because databases contain them. If screens are added,
//! `UPDATE_FROZEN=1` rewrites the file.

use std::collections::BTreeMap;
use std::path::PathBuf;

use afd_screen::page::evidence::{Kind, of_kind};
use afd_screen::page::structure::Structures;
use afd_screen::page::{Snapshot, element, fingerprint, refs, reliability, structure};
use afd_tests::screens;

/// Returns the keys, hashes, roles and labels that are derived from a screen, one per line.
fn facts(snapshot: &Snapshot) -> String {
    let identity = fingerprint::identity(snapshot);
    let hashes = (fingerprint::exact_content(snapshot), fingerprint::content_hash(snapshot));
    let mut structures = structure::of(snapshot);
    // The language of dialogs was added later. It is compared only if both screens have it.
    if let Some(Structures { front, below }) = &mut structures {
        let all = [Some(front), below.as_mut()].into_iter().flatten();
        all.for_each(|s| s.evidence.retain(|hash| of_kind(&[*hash], Kind::Language).is_empty()));
    }
    let keys = structures.iter().flat_map(|s| [Some(&s.front), s.below.as_ref()]).flatten().map(|s| s.key());
    let mut lines = vec![format!("{identity:?} {hashes:?} {:?}", reliability::doubt(snapshot))];
    lines.push(format!("{:?} {structures:?} {:?}", keys.collect::<Vec<_>>(), structure::of_bars(snapshot)));
    lines.extend(element::all(snapshot).iter().map(|e| format!("{e:?}")));
    lines.extend(refs::all(snapshot).iter().map(|r| format!("{r:?}")));
    lines.join("\n")
}

#[test]
fn keys_of_pages_and_elements_stay_as_they_were() {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut found = BTreeMap::new();
    for half in ["held", "tuned"] {
        for (app, labelled) in screens::read(&tests.join("screens").join(half)) {
            let all: Vec<String> = labelled.iter().map(|l| facts(&l.screen.snapshot())).collect();
            found.insert(app, format!("{:016x}", structure::feature(&all.join("\n"))));
        }
    }
    let file = tests.join("fixtures/frozen-keys.json");
    if std::env::var_os("UPDATE_FROZEN").is_some() {
        std::fs::write(&file, serde_json::to_string_pretty(&found).expect("JSON") + "\n").expect("writes");
    }
    let frozen: BTreeMap<String, String> =
        serde_json::from_str(&std::fs::read_to_string(&file).expect("reads")).expect("JSON");
    assert_eq!(found, frozen);
}
