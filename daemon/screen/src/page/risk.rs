//! Risky elements: elements whose names say that they delete, pay, buy, send, publish, sign out or reset something.
//!
//! Idea: the words of a name are compared with a list of phrases in sixteen languages (`risky.txt`) and with the words
//! of the user. Every language is compared, because the language of a short name cannot be determined. A name that says
//! the opposite ("Don't send", "Cancel") is not risky, nor is a long sentence that mentions the word in its middle. The
//! resource id counts for buttons and pictures only, because the ids of rows often name what a row shows (`post_row`).
//! In a dialog whose text is risky, the button that agrees is risky, too.
//!
//! Constants: [`MAX_WORDS`]. A name is a word on a control, not a proof: the list prefers a false alarm, because the
//! caller can allow it, to a purchase.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use afd_proto::vocabulary::{Role, Target};

use super::element_ref::Ref;
use super::folding::fold;
use super::outline::Item;
use super::screen::Screen;
use super::snapshot::Flag;
use super::{structure, target};

/// Maximum number of words, without numbers, in a name that may contain a risky phrase anywhere but at its beginning.
const MAX_WORDS: usize = 7;
/// Phrases by language, separated by semicolons.
const PHRASES: &str = include_str!("risky.txt");
/// Words that reverse the meaning of a phrase directly after them.
const REVERSING: &[&str] =
    &["don't", "dont", "not", "never", "undo", "nicht", "pas", "no", "non", "não", "niet", "nie", "inte", "не"];
/// Names of buttons that agree with the text of a dialog.
const AGREEING: &[&str] = &[
    "ok",
    "okay",
    "yes",
    "confirm",
    "continue",
    "proceed",
    "accept",
    "agree",
    "ja",
    "bestätigen",
    "weiter",
    "fortfahren",
    "oui",
    "confirmer",
    "continuer",
    "sí",
    "confirmar",
    "continuar",
    "aceptar",
    "aceitar",
    "sì",
    "conferma",
    "continua",
    "sim",
    "bevestigen",
    "doorgaan",
    "tak",
    "potwierdź",
    "kontynuuj",
    "да",
    "ок",
    "подтвердить",
    "продолжить",
    "evet",
    "onayla",
    "tamam",
    "确定",
    "確定",
    "确认",
    "確認",
    "是",
    "继续",
    "はい",
    "続行",
    "확인",
    "예",
    "계속",
    "نعم",
    "موافق",
    "تأكيد",
    "متابعة",
    "हाँ",
    "ठीक है",
];
/// Parts of a resource id that mean the opposite of a risky part directly before or after them.
const REVERSING_PARTS: &[&str] = &["cancel", "dismiss", "undo", "no", "not", "skip", "later"];

/// The phrases that make a name risky.
#[derive(Debug, Clone, Default)]
pub struct RiskRules {
    risky: ByFirstWord,
    harmless: HashSet<String>,
}

/// Splits a name into folded words. A word keeps its apostrophe.
fn words(text: &str) -> Vec<String> {
    let folded = fold(text);
    let parts = folded.split(|c: char| !c.is_alphanumeric() && c != '\'' && !is_mark(c));
    parts.map(|word| word.trim_matches('\'')).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Returns whether a character is a vowel sign or another mark of an Indic or Arabic script, which belongs to its word.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{900}'..='\u{903}' | '\u{93a}'..='\u{94f}' | '\u{962}'..='\u{963}' | '\u{64b}'..='\u{65f}')
}

/// Returns whether a phrase is in a script that writes words, or words and their endings, without spaces between them.
fn is_unspaced(phrase: &str) -> bool {
    phrase.chars().any(|c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}'))
}

/// Phrases by their first word.
type ByFirstWord = HashMap<String, Vec<Vec<String>>>;

/// The phrases of `risky.txt`: those in words, those in scripts that do not separate words, and those that are harmless
/// although they contain one of the others.
struct Listed {
    spaced: ByFirstWord,
    unspaced: Vec<String>,
    harmless: Vec<String>,
    /// Last words of names of places, such as `history` in `Transfer history`.
    places: Vec<String>,
}

fn by_first_word(phrases: impl Iterator<Item = Vec<String>>) -> ByFirstWord {
    let mut table = ByFirstWord::new();
    for phrase in phrases {
        if let Some(first) = phrase.first() {
            table.entry(first.clone()).or_default().push(phrase);
        }
    }
    table
}

fn listed() -> &'static Listed {
    static PARSED: OnceLock<Listed> = OnceLock::new();
    PARSED.get_or_init(|| {
        let lines = || PHRASES.lines().filter_map(|line| line.split_once(": "));
        let of = |wanted: &'static str| {
            let kind = |name: &str| if matches!(name, "harmless" | "places") { name.to_owned() } else { String::new() };
            let lists = lines().filter(move |(name, _)| kind(name) == wanted);
            lists.flat_map(|(_, list)| list.split("; "))
        };
        let (unspaced, spaced): (Vec<&str>, Vec<&str>) = of("").partition(|phrase| is_unspaced(phrase));
        Listed {
            spaced: by_first_word(spaced.into_iter().map(words)),
            unspaced: unspaced.into_iter().map(fold).collect(),
            harmless: of("harmless").map(fold).collect(),
            places: of("places").map(fold).collect(),
        }
    })
}

/// Returns whether one of the phrases follows in a name, at one of the first `places` words. `reversing` words directly
/// before it, and if `both_sides` is set directly after it, reverse its meaning.
fn has_phrase(name: &[String], table: &ByFirstWord, places: usize, (reversing, both_sides): (&[&str], bool)) -> bool {
    let reverses = |word: Option<&String>| word.is_some_and(|word| reversing.contains(&word.as_str()));
    let starts = |at: usize| {
        let phrases = table.get(&name[at]).into_iter().flatten().filter(|phrase| name[at..].starts_with(phrase));
        let before = at.checked_sub(1).and_then(|before| name.get(before));
        let after = |phrase: &Vec<String>| both_sides && reverses(name.get(at + phrase.len()));
        !reverses(before) && phrases.into_iter().any(|phrase| !after(phrase))
    };
    (0..name.len().min(places)).any(starts)
}

/// Splits the name part of a resource id into lower-case words: `btnSend_now` has the parts `btn`, `send` and `now`.
fn parts_of_id(id: &str) -> Vec<String> {
    let name = id.rsplit('/').next().unwrap_or(id);
    let mut parts = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_lower) {
            parts.push(String::new());
        }
        was_lower = c.is_lowercase();
        if c.is_alphanumeric() {
            parts.last_mut().into_iter().for_each(|part| part.extend(c.to_lowercase()));
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

impl RiskRules {
    /// Creates rules that also treat the names and phrases in `risky` as risky. Names that equal one in `harmless` are
    /// never risky.
    pub fn new(risky: &[String], harmless: &[String]) -> Self {
        Self {
            risky: by_first_word(risky.iter().map(|phrase| words(phrase))),
            harmless: harmless.iter().map(|name| fold(name)).collect(),
        }
    }

    fn is_harmless(&self, name: &str) -> bool {
        self.harmless.contains(&fold(name))
    }

    /// Returns whether one of the phrases in words is in a name, at one of the first `places` words.
    fn has_phrase(&self, name: &[String], places: usize) -> bool {
        let tables = [&listed().spaced, &self.risky];
        tables.into_iter().any(|table| has_phrase(name, table, places, (REVERSING, false)))
    }

    /// Returns whether a name is risky.
    pub fn is_risky_name(&self, name: &str) -> bool {
        let (own, folded) = (words(name), fold(name));
        let is_place = || {
            let ends =
                |place: &String| if is_unspaced(place) { folded.ends_with(place) } else { own.last() == Some(place) };
            own.len() > 1 && listed().places.iter().any(ends)
                || is_unspaced(&folded) && listed().places.iter().any(ends)
        };
        let is_recent = folded.starts_with("最近") || folded.starts_with("최근") || folded.ends_with("ない");
        let is_known = || listed().harmless.iter().any(|phrase| folded.contains(phrase));
        let phrases = own.first().and_then(|first| listed().spaced.get(first));
        let is_phrase = phrases.is_some_and(|phrases| phrases.contains(&own)) || listed().unspaced.contains(&folded);
        if own.is_empty() || self.is_harmless(name) || (!is_phrase && (is_known() || is_place() || is_recent)) {
            return false;
        }
        let short = folded.chars().count() <= 2 * MAX_WORDS;
        let says = |phrase: &String| folded.starts_with(phrase) || (short && folded.contains(phrase));
        let counted = own.iter().filter(|word| !word.contains(|c: char| c.is_numeric())).count();
        self.has_phrase(&own, if counted <= MAX_WORDS { own.len() } else { 1 }) || listed().unspaced.iter().any(says)
    }

    /// Returns whether the resource id of a button or picture is risky.
    fn is_risky_id(&self, role: Role, id: Option<&str>) -> bool {
        let Some(id) = id.filter(|_| matches!(role, Role::Button | Role::Image | Role::View | Role::Any)) else {
            return false;
        };
        let parts = parts_of_id(id);
        let says = |table| has_phrase(&parts, table, parts.len(), (REVERSING_PARTS, true));
        !self.is_harmless(id.rsplit('/').next().unwrap_or(id)) && (says(&listed().spaced) || says(&self.risky))
    }

    fn is_risky_element(&self, role: Role, name: Option<&str>, id: Option<&str>) -> bool {
        if matches!(role, Role::Field | Role::List | Role::Text) {
            return false;
        }
        match name.filter(|name| !name.trim().is_empty()) {
            Some(name) if self.is_harmless(name) => false,
            Some(name) => self.is_risky_name(name) || (role == Role::Button && self.is_risky_id(role, id)),
            None => self.is_risky_id(role, id),
        }
    }

    /// Returns whether a described element is risky.
    pub fn is_risky_target(&self, wanted: &Target) -> bool {
        self.is_risky_element(wanted.role, target::title(wanted), wanted.res_id.as_deref())
    }

    /// Returns whether an element on a screen is risky. In a dialog, the text around it counts for a button that agrees.
    pub fn is_risky(&self, screen: &Screen, element: &Ref) -> bool {
        let node = &screen.nodes[element.node];
        if node.is(Flag::Editable) {
            return false;
        }
        let title = Some(element.label.title.as_str()).filter(|title| !title.is_empty());
        let name = title.or(element.name.as_deref().filter(|_| element.is_caption));
        let agrees = name.is_some_and(|name| AGREEING.contains(&fold(name).as_str()) && !self.is_harmless(name));
        self.is_risky_element(node.role, name, node.res_id.as_deref()) || (agrees && self.asks_for_risk(screen))
    }

    /// Marks the risky ones among the items of a screen's outline.
    pub fn mark(&self, screen: &Screen, mut items: Vec<Item>) -> Vec<Item> {
        for item in &mut items {
            item.risky = item.at.is_some_and(|at| self.is_risky(screen, &screen.refs()[at]));
        }
        items
    }

    /// Returns whether a dialog in front has a risky text.
    fn asks_for_risk(&self, screen: &Screen) -> bool {
        let says = |text: &str| {
            text.split(['.', '?', '!', '\n', '\u{ff1f}', '\u{3002}']).any(|part| self.is_in_sentence(part))
        };
        let texts = || {
            let nodes = structure::front_nodes(screen).into_iter().map(|index| &screen.nodes[index]);
            nodes.filter(|node| !node.is(Flag::Clickable)).filter_map(|node| node.text.as_deref())
        };
        screen.structures().is_some_and(|structures| structures.front.dialog) && texts().any(says)
    }

    /// Returns whether a sentence of a dialog contains a risky phrase anywhere.
    fn is_in_sentence(&self, sentence: &str) -> bool {
        let (own, folded) = (words(sentence), fold(sentence));
        self.has_phrase(&own, own.len()) || listed().unspaced.iter().any(|phrase| folded.contains(phrase.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_risky(name: &str) -> bool {
        RiskRules::default().is_risky_name(name)
    }

    #[test]
    fn names_in_many_languages_are_risky() {
        for name in [
            "Delete",
            "Sign out",
            "Log Out…",
            "Pay $4.99",
            "Buy now",
            "Place your order",
            "SEND",
            "Post",
            "Reset",
            "Konto löschen",
            "Zahlungspflichtig bestellen",
            "Se déconnecter",
            "Cerrar sesión",
            "Esci",
            "Enviar",
            "Wyloguj się",
            "Удалить",
            "Выйти",
            "删除账号",
            "立即购买",
            "ログアウト",
            "購入する",
            "삭제",
            "결제하기",
            "تسجيل الخروج",
            "भुगतान करें",
            "Çıkış yap",
            "Uitloggen",
            "Delete without saving",
            "Confirm and pay $1,299.00",
            "Yes, delete this conversation for everyone",
            "Delete chat \"No worries\"",
        ] {
            assert!(is_risky(name), "{name}");
        }
    }

    #[test]
    fn names_of_places_and_of_the_opposite_are_not_risky() {
        for name in [
            "Display",
            "Sent",
            "Posts",
            "Orders",
            "Order history",
            "Payments",
            "Don't send",
            "Keep, don't delete",
            "Cancel",
            "Nicht löschen",
            "Settings",
            "Buyer protection",
            "Notifications",
            "Resettlement",
            "Recently deleted photos and videos",
            "How to get your money back if you delete",
            "Sender",
            "发现",
            "설정",
            "保存",
        ] {
            assert!(!is_risky(name), "{name}");
        }
    }

    #[test]
    fn ids_count_for_buttons_without_a_risky_name() {
        let rules = RiskRules::default();
        let target = |role, title: Option<&str>, id: &str| Target {
            role,
            title: title.map(str::to_owned),
            res_id: Some(format!("org.example:id/{id}")),
            ..Target::default()
        };
        assert!(rules.is_risky_target(&target(Role::Image, None, "action_delete")));
        assert!(rules.is_risky_target(&target(Role::Button, Some("OK"), "btnDelete")));
        assert!(!rules.is_risky_target(&target(Role::Row, Some("A good day"), "post_row")));
        assert!(!rules.is_risky_target(&target(Role::Button, Some("Cancel"), "delete_cancel")));
        assert!(!rules.is_risky_target(&target(Role::Field, Some("Send to"), "send_to")));
    }

    #[test]
    fn lists_of_the_user_add_and_remove_names() {
        let rules = RiskRules::new(&["Open the gate".to_owned()], &["Post".to_owned()]);
        assert!(rules.is_risky_name("Open the gate now") && rules.is_risky_name("Delete"));
        assert!(!rules.is_risky_name("post") && rules.is_risky_name("Post comment"));
    }
}
