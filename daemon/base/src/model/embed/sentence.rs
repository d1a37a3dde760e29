//! A sentence model that is loaded from a directory and runs in this process: a BERT encoder whose outputs are combined
//! into a single vector. The directory contains the files in which such models are usually published: `config.json`,
//! `tokenizer.json` and `model.safetensors`, and optionally `sentence_bert_config.json` and `1_Pooling/config.json`.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant, SystemTime};

use afd_encoder::{Encoder, Shape};
use parking_lot::Mutex;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokenizers::{Tokenizer, TruncationParams};

use super::trial::{self, Trial};
use super::{EmbeddedQuery, Embedder, Embedding, ModelError, normalize};
use crate::task::run_blocking;
use crate::text::cut;

/// Maximum number of tokens in an embedded text, unless the model has a lower limit. The run time grows with the number
/// of tokens.
const MAX_TOKENS: usize = 256;

/// Thresholds for the number of letters per token. If this number is at most `SCRIPT`, the model does not know the
/// script of the text. As the number grows from `LANGUAGE_FROM` to `LANGUAGE_UP_TO`, the estimate of how well the model
/// knows the language rises to 1. With a model for English, tokens have 3 to 5.6 letters in English text, 1.8 to 2.9
/// letters in German, French, Italian or Polish text, and 1 letter in Chinese text.
const SCRIPT: f64 = 1.15;
const LANGUAGE_FROM: f64 = 2.6;
const LANGUAGE_UP_TO: f64 = 3.2;

/// Maximum number of characters, from the beginning of a text, that are used to estimate how well the model knows the
/// language.
const MAX_TOLD: usize = 240;

/// Time for which changed model files must stay unchanged before they are read.
const CHANGING: Duration = Duration::from_secs(2);

/// How the encoder's outputs for the tokens are combined into one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pooling {
    /// The mean of all outputs.
    Mean,
    /// The output for the first token.
    First,
}

/// A sentence model that is loaded into memory.
struct Loaded {
    tokenizer: Tokenizer,
    encoder: Encoder,
    pooling: Pooling,
}

/// A sentence model in a directory. It is loaded into memory on demand.
pub struct SentenceModel {
    directory: PathBuf,
    identity: String,
    /// Sizes and modification times of the model files, to detect changes.
    stamp: Stamp,
    loaded: Arc<Mutex<Option<Arc<Loaded>>>>,
    used: Mutex<Instant>,
}

fn json(file: &Path) -> Option<Value> {
    serde_json::from_slice(&crate::file::read_capped(file, 1 << 20).ok()?).ok()
}

/// The files that a model must have, and their maximum sizes, in bytes.
const FILES: [(&str, u64); 3] =
    [("config.json", 1 << 20), ("tokenizer.json", 256 << 20), ("model.safetensors", 4 << 30)];

/// Maximum length of the header in the file of weights, in bytes.
const MAX_HEADER: u64 = 100 << 20;

/// Checks that a model's files are regular files and do not exceed their maximum sizes, before they are read
/// completely.
fn check_files(directory: &Path) -> Result<(), String> {
    for (name, most) in FILES {
        let file = directory.join(name);
        let meta = std::fs::metadata(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        if !meta.is_file() || meta.len() > most {
            return Err(format!("{}: expected a regular file of at most {} MiB", file.display(), most >> 20));
        }
    }
    check_header(&directory.join("model.safetensors"))
}

/// Checks that the header in the file of weights is not longer than the file. The file begins with the header's length.
fn check_header(file: &Path) -> Result<(), String> {
    let failed = |e: std::io::Error| format!("{}: {e}", file.display());
    let mut opened = crate::file::open_regular(file).map_err(failed)?;
    let (size, mut length) = (opened.metadata().map_err(failed)?.len(), [0; 8]);
    std::io::Read::read_exact(&mut opened, &mut length).map_err(failed)?;
    let length = u64::from_le_bytes(length);
    if length.saturating_add(8) > size || length > MAX_HEADER {
        return Err(format!("{}: invalid header length of {length} bytes in a file of {size} bytes", file.display()));
    }
    Ok(())
}

/// Returns the identity of the model in a directory: a hash of its files' contents. The identity does not depend on the
/// directory's path.
fn identity_of(directory: &Path) -> Result<String, String> {
    check_files(directory)?;
    let mut hasher = Sha256::new();
    for (name, _) in FILES {
        let file = directory.join(name);
        let mut reader = std::fs::File::open(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        std::io::copy(&mut reader, &mut HashWriter(&mut hasher)).map_err(|e| format!("{}: {e}", file.display()))?;
    }
    Ok(format!("sentence/{}", &crate::hex::encode(&hasher.finalize())[..16]))
}

struct HashWriter<'a>(&'a mut Sha256);

impl std::io::Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Sizes and modification times of a model's files; `None` for a missing file.
type Stamp = [Option<(u64, Option<SystemTime>)>; FILES.len()];

fn stamp_of(directory: &Path) -> Stamp {
    FILES.map(|(name, _)| std::fs::metadata(directory.join(name)).ok().map(|meta| (meta.len(), meta.modified().ok())))
}

impl Loaded {
    fn read(directory: &Path) -> Result<Self, String> {
        let shape = Shape::read(&directory.join("config.json"))?;
        let file = directory.join("tokenizer.json");
        let mut tokenizer = Tokenizer::from_file(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        let said = json(&directory.join("sentence_bert_config.json")).and_then(|c| c.get("max_seq_length")?.as_u64());
        let most = said
            .and_then(|n| usize::try_from(n).ok())
            .unwrap_or(MAX_TOKENS)
            .min(MAX_TOKENS)
            .min(shape.max_position_embeddings)
            .max(8);
        let truncation = TruncationParams { max_length: most, ..TruncationParams::default() };
        tokenizer
            .with_padding(None)
            .with_truncation(Some(truncation))
            .map_err(|e| format!("{}: {e}", file.display()))?;
        let pooling = json(&directory.join("1_Pooling/config.json"));
        let first = pooling.is_some_and(|p| p.get("pooling_mode_cls_token") == Some(&Value::Bool(true)));
        let encoder = Encoder::read(&directory.join("model.safetensors"), shape)?;
        Ok(Self { tokenizer, encoder, pooling: if first { Pooling::First } else { Pooling::Mean } })
    }

    /// Estimates how well the model knows the language of `text`, 0 to 1. The model splits words into few tokens in a
    /// language that it knows, and into many tokens in other languages.
    fn known(&self, text: &str) -> Result<f64, String> {
        let text = cut::head(text, MAX_TOLD);
        let encoded = self.tokenizer.encode(text, false).map_err(|e| e.to_string())?;
        let unknown = ["[UNK]", "<unk>"].iter().find_map(|token| self.tokenizer.token_to_id(token));
        let is_unknown = |id: &u32| Some(*id) == unknown;
        let (tokens, strange) = (encoded.get_ids().len(), encoded.get_ids().iter().filter(|id| is_unknown(id)).count());
        if strange * 2 > tokens {
            return Ok(0.05);
        }
        let letters = text.chars().filter(|c| c.is_alphabetic()).count();
        let each = letters as f64 / tokens.max(1) as f64;
        if each <= SCRIPT {
            return Ok(0.05);
        }
        Ok(0.3 + 0.7 * ((each - LANGUAGE_FROM) / (LANGUAGE_UP_TO - LANGUAGE_FROM)).clamp(0.0, 1.0))
    }

    fn embed(&self, text: &str) -> Result<Vec<f32>, String> {
        let tokens = self.tokenizer.encode(text, true).map_err(|e| e.to_string())?;
        let output = self.encoder.run(tokens.get_ids());
        let size = self.encoder.dimensions();
        if output.len() < size {
            return Ok(vec![0.0; size]);
        }
        let mut vector = output[..size].to_vec();
        if self.pooling == Pooling::Mean {
            output[size..].chunks_exact(size).for_each(|row| vector.iter_mut().zip(row).for_each(|(x, y)| *x += y));
        }
        normalize(&mut vector);
        if vector.iter().all(|x| x.is_finite()) { Ok(vector) } else { Err("the vector is not finite".to_owned()) }
    }
}

/// Checks that the model in a directory can be used.
///
/// # Errors
/// If a file is missing or invalid. The message names the file.
fn check(directory: &Path) -> Result<Trial, String> {
    let identity = identity_of(directory)?;
    let model = Loaded::read(directory)?;
    let started = Instant::now();
    let vector = model.embed("The quick brown fox jumps over the lazy dog.")?;
    Ok(Trial {
        identity,
        dimensions: vector.len(),
        sentence_ms: (started.elapsed().as_secs_f64() * 1e4).round() / 10.0,
    })
}

/// Tries to use the model in a directory, in a child process. This function blocks.
///
/// # Errors
/// If the model cannot be used. The message gives the reason, and names the file if one is invalid.
pub fn tried(directory: &Path) -> Result<Trial, String> {
    // First, make the cheap checks that need no child process.
    check_files(directory)?;
    trial::in_child(directory)
}

/// Limits this process's resources, tries to use the model, and prints the result. Called in the child process of a
/// trial.
pub fn run_trial(directory: &Path) {
    trial::limit(directory);
    println!("{}", serde_json::to_string(&check(directory)).unwrap_or_default());
}

impl SentenceModel {
    /// Tries to use the model in a directory. Returns the model, which is not loaded into memory yet.
    ///
    /// # Errors
    /// If the model cannot be used.
    pub fn open(directory: &Path) -> Result<Self, String> {
        // Take the stamp first, so that changes to the files during the trial are detected.
        let stamp = stamp_of(directory);
        let identity = tried(directory)?.identity;
        Ok(Self {
            directory: directory.to_owned(),
            identity,
            stamp,
            loaded: Arc::default(),
            used: Mutex::new(Instant::now()),
        })
    }

    /// Returns whether the model's files have changed since it was opened. If so, its identity is out of date.
    pub fn has_changed(&self) -> bool {
        stamp_of(&self.directory) != self.stamp
    }

    /// Returns whether the model's files must not be read yet, because they were written less than [`CHANGING`] ago,
    /// for example by a copy operation that is still running.
    pub fn is_changing(&self) -> bool {
        let times = stamp_of(&self.directory).into_iter().flatten().filter_map(|(_, modified)| modified);
        times.max().and_then(|last| last.elapsed().ok()).is_some_and(|since| since < CHANGING)
    }

    /// Drops the model from memory if it has not been used for at least `after`. Returns whether its memory was freed.
    pub fn drop_unused(&self, after: Duration) -> bool {
        let unused = self.used.lock().elapsed() >= after;
        // A model that is in use stays in memory until that use ends.
        unused
            && self
                .loaded
                .lock()
                .take()
                .map(|model| Arc::downgrade(&model))
                .is_some_and(|weak: Weak<Loaded>| weak.strong_count() == 0)
    }

    fn load(directory: &Path, stamp: &Stamp, loaded: &Mutex<Option<Arc<Loaded>>>) -> Result<Arc<Loaded>, String> {
        let mut loaded = loaded.lock();
        if let Some(model) = &*loaded {
            return Ok(model.clone());
        }
        // Check the stamp before reading the files, because changed files have not been tried.
        if stamp_of(directory) != *stamp {
            return Err("its files have changed".to_owned());
        }
        let model = Arc::new(Loaded::read(directory)?);
        if stamp_of(directory) != *stamp {
            return Err("its files have changed".to_owned());
        }
        *loaded = Some(model.clone());
        Ok(model)
    }

    /// Runs work with the model. Loads the model first if necessary.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Loaded) -> Result<T, String> + Send + 'static,
    ) -> Result<T, ModelError> {
        *self.used.lock() = Instant::now();
        let (directory, stamp, loaded) = (self.directory.clone(), self.stamp, self.loaded.clone());
        let done = run_blocking(move || work(&*Self::load(&directory, &stamp, &loaded)?)).await;
        *self.used.lock() = Instant::now();
        done.map_err(|e| ModelError::Temporary(e.to_string()))?.map_err(ModelError::Permanent)
    }
}

impl Embedder for SentenceModel {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn embed(&self, texts: Vec<String>) -> Embedding<'_> {
        Box::pin(self.run(move |model| texts.iter().map(|text| model.embed(text)).collect()))
    }

    fn embed_query(&self, text: String) -> EmbeddedQuery<'_> {
        Box::pin(self.run(move |model| Ok((model.embed(&text)?, model.known(&text)?))))
    }
}
