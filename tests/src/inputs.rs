//! Passes external input to the code that parses it. Used by the fuzz targets and by a test that makes small changes to
//! valid input.
//!
//! Each function must return normally for any input; a panic is a bug.

use std::sync::LazyLock;

use afd_proto::frame::{Decoder, Framing};
use afd_screen::page::{fingerprint, outline, refs, reliability, structure};
use afd_store::Store;

/// Maximum size of a message in [`frame`], in bytes.
const MAX_FRAME: usize = 4096;

/// A function that parses an input.
pub type Reader = fn(&[u8]);

/// The readers, each with the name of its seed directory.
pub const READERS: [(&str, Reader); 6] = [
    ("frame", frame),
    ("request", request),
    ("screen", screen),
    ("settings", settings),
    ("records", records),
    ("detections", detections),
];

/// Decodes frames, whole and in pieces.
pub fn frame(bytes: &[u8]) {
    for framing in [Framing::Line, Framing::ContentLength] {
        let whole = decode(framing, bytes, bytes.len().max(1));
        for size in [1, 7] {
            assert_eq!(decode(framing, bytes, size), whole, "pieces of {size} bytes");
        }
    }
}

fn decode(framing: Framing, bytes: &[u8], size: usize) -> Vec<Result<Vec<u8>, String>> {
    let mut decoder = Decoder::new(framing, MAX_FRAME);
    let mut found = Vec::new();
    for piece in bytes.chunks(size) {
        decoder.push(piece);
        loop {
            match decoder.next_message() {
                Ok(Some(message)) => found.push(Ok(message)),
                Ok(None) => break,
                Err(error) => {
                    found.push(Err(format!("{error:?}")));
                    return found;
                }
            }
        }
    }
    found
}

/// Decodes the parameters of several methods.
pub fn request(bytes: &[u8]) {
    let _ = serde_json::from_slice::<afd_proto::act::TapParams>(bytes);
    let _ = serde_json::from_slice::<afd_proto::conversation::AppendParams>(bytes);
    let _ = serde_json::from_slice::<afd_proto::session::StartParams>(bytes);
    let _ = serde_json::from_slice::<afd_proto::notes::SaveParams>(bytes);
    let _ = serde_json::from_slice::<afd_proto::memory::Event>(bytes);
}

/// Parses a screen of a phone, and computes everything that is derived from it.
pub fn screen(bytes: &[u8]) {
    let Ok(snapshot) = afd_device::autofish::parse_screen(&String::from_utf8_lossy(bytes)) else { return };
    let all = refs::all(&snapshot);
    let _ = (reliability::doubt(&snapshot), fingerprint::identity(&snapshot), fingerprint::content_hash(&snapshot));
    let _ = (structure::of(&snapshot), afd_screen::page::element::all(&snapshot));
    let _ = afd_screen::page::Screen::from(snapshot.clone()).recorded(0);
    for item in outline::items(&snapshot, &all, None) {
        assert!(!item.line(Some("n1")).contains('\n'), "an item is one line");
    }
}

/// Parses settings.
pub fn settings(bytes: &[u8]) {
    let _ = afd_base::config::parse(&String::from_utf8_lossy(bytes));
}

static MEMORY: LazyLock<(tempfile::TempDir, tokio::runtime::Runtime, Store)> = LazyLock::new(|| {
    let dir = tempfile::tempdir().expect("a directory");
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let store = {
        let _inside = runtime.enter();
        Store::open(&dir.path().join("memory.db"), &afd_base::task::Tasks::default(), |_, _| {}, |_| Ok(0))
            .expect("opens")
    };
    (dir, runtime, store)
});

/// Imports the records of an exported memory in a dry run.
pub fn records(bytes: &[u8]) {
    let (_, runtime, store) = &*MEMORY;
    let bytes = bytes.to_vec();
    let done =
        runtime.block_on(store.write(move |c| Ok(afd::app::memory::transfer::import_dry_run(c, &bytes, true).is_ok())));
    done.expect("a file of somebody else is no failure of the database");
}

/// Parses the output of a detector.
pub fn detections(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = (afd_experience::visual::detector::lines(&text), afd_experience::visual::detector::tsv(&text));
}
