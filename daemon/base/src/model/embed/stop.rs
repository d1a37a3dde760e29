//! Words to which the built-in model gives little weight, because they say nothing about a text's subject. A change of the
//! list changes the vectors.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Folded stop words in English, German, Spanish and French.
#[rustfmt::skip]
const STOP: &[&str] = &[
    "a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "before", "but", "by", "can", "could", "did", "do", "does", "done", "for", "from", "get", "go", "going", "got", "had", "has", "have", "he", "her", "here", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "know", "let", "like", "make", "me", "more", "my", "new", "no", "not", "now", "of", "on", "one", "only", "or", "our", "out", "over", "please", "put", "really", "right", "s", "said", "say", "see", "she", "should", "so", "some", "still", "t", "take", "than", "that", "the", "their", "them", "then", "there", "they", "thing", "this", "to", "too", "up", "us", "use", "very", "want", "was", "we", "well", "were", "what", "when", "where", "which", "who", "why", "will", "with", "would", "yes", "you", "your", "re", "ve", "ll", "m", "d", "don",
    "aber", "als", "am", "auch", "auf", "aus", "bei", "bin", "bitte", "da", "das", "dass", "dem", "den", "der", "des", "die", "dir", "doch", "du", "ein", "eine", "einen", "einer", "er", "es", "fur", "gut", "hab", "habe", "haben", "hat", "hier", "ich", "ihr", "im", "immer", "ist", "ja", "jetzt", "kann", "kein", "man", "mal", "mehr", "mein", "meine", "mich", "mir", "mit", "nach", "nicht", "noch", "nur", "ob", "oder", "schon", "sein", "sich", "sie", "sind", "so", "soll", "uber", "um", "und", "uns", "vom", "von", "vor", "war", "was", "weil", "wenn", "wer", "wie", "wir", "wird", "wo", "zu", "zum", "zur",
    "al", "algo", "asi", "como", "con", "cuando", "de", "del", "donde", "el", "ella", "en", "era", "es", "eso", "esta", "este", "esto", "fue", "ha", "hay", "la", "las", "le", "les", "lo", "los", "mas", "me", "mi", "muy", "nos", "o", "para", "pero", "por", "porque", "que", "se", "si", "sin", "su", "sus", "te", "tengo", "tiene", "un", "una", "unos", "y", "ya", "yo",
    "au", "aux", "avec", "ce", "ces", "cette", "dans", "des", "du", "elle", "est", "et", "il", "ils", "j", "je", "l", "leur", "ma", "mais", "mes", "mon", "n", "ne", "nous", "on", "ou", "par", "pas", "plus", "pour", "qu", "qui", "sa", "ses", "son", "sont", "sur", "ton", "tout", "tu", "une", "vous", "c",
];

/// Returns whether a folded word is a stop word.
pub(super) fn is_stop(word: &str) -> bool {
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| STOP.iter().copied().collect());
    WORDS.contains(word)
}
