//! Words that tell what a sentence is for, in the languages that users write most. All are folded: lower case, without accents.
//!
//! Words of scripts without spaces are matched as parts of the sentence; the others as whole words or, with a space, as phrases.

use std::collections::HashMap;
use std::sync::LazyLock;

use afd_base::text::is_dense;

/// Lists of words, one for each thing that a sentence can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cue {
    /// Standing instruction: always, never, only, must.
    Rule,
    /// Choice that was made: we take, decided, let us, final.
    Decision,
    /// Takes something back: no, instead, changed, wrong.
    Correction,
    /// Likes and dislikes, diets, needs.
    Preference,
    /// Names what something is: called, number, address, deadline, password.
    Naming,
    /// Days, months and numbers as words.
    Quantity,
    /// Result of looking: found, cause, fails, because.
    Finding,
    /// Leads back from a digression to the point: anyway, so, in short.
    Conclusion,
    /// Tells a story: years ago, my uncle, she told me.
    Anecdote,
    /// Small talk: thanks, sorry, haha.
    SmallTalk,
    /// Announces the next step: now I will, let me, one moment.
    Process,
    /// Asks for the next step: please open, show me.
    Request,
}

impl Cue {
    #[rustfmt::skip]
    fn words(self) -> &'static [&'static str] {
        match self {
            Cue::Rule => &[
                "always", "never", "only", "must", "don't", "dont", "do not", "not allowed", "forbidden", "no longer", "rule", "from now on",
                "every time", "whenever", "unless", "except", "required", "requires", "has to", "have to", "make sure", "remember", "important", "without my", "off limits",
                "out of scope", "hands off", "until i", "before you", "ask me", "strictly", "at all", "no more than", "at most", "at least", "won't", "isn't allowed",
                "immer", "nie", "niemals", "nur", "muss", "mussen", "darf", "durfen", "kein", "keine", "keinen", "regel", "ab sofort", "ab jetzt", "auf keinen fall",
                "grundsatzlich", "wichtig", "merk dir", "ausser", "hochstens", "mindestens", "bitte nicht", "nicht ohne", "verboten", "frag mich", "erst wenn", "ausschliesslich",
                "siempre", "nunca", "jamas", "solo", "debe", "deben", "hay que", "tiene que", "tienen que", "no se puede", "regla", "prohibido", "importante", "a partir de ahora", "excepto", "salvo", "hasta que", "ni un", "minimo", "maximo", "sagrados", "ojo",
                "toujours", "jamais", "seulement", "uniquement", "doit", "doivent", "il faut", "interdit", "regle", "desormais", "sauf", "ne pas", "pas de", "surtout", "obligatoire", "au maximum", "au moins",
                "sempre", "mai", "deve", "soltanto", "nunca", "somente", "apenas",
                "必须", "一定", "不要", "不许", "不能", "绝对", "千万", "只能", "一律", "以后", "记住", "禁止", "别", "必ず", "絶対", "しないで", "禁止", "だけ", "ないように", "してください", "以内", "以上", "以下", "厳禁", "必須", "반드시", "절대", "항상", "하지 마",
            ],
            Cue::Decision => &[
                "decided", "decision", "agreed", "we take", "we'll take", "i'll take", "we go with", "going with", "go with", "we use", "we'll use", "let's", "lets", "settled", "final", "fixed",
                "we're having", "we'll have", "having the", "it's going to be", "it'll be", "make it", "set it", "set to", "pick", "picked", "choose", "chose", "chosen", "switch to", "switched", "move to", "moved to", "stick with", "keep it", "drop", "scrap", "skip", "cancel", "cancelled", "booked", "approved", "confirmed", "then we", "shall be", "i want", "we want", "i'd like", "go for", "ship", "count on", "plan is", "use the", "take the",
                "entschieden", "beschlossen", "wir nehmen", "nehmen wir", "ich nehme", "nimm", "wir machen", "machen wir", "dann also", "bleibt bei", "bleiben bei", "es bleibt", "wird es", "fest", "abgemacht", "vereinbart", "wollen wir", "ich will", "will ich", "mochte", "sollen", "soll", "gebucht", "zugesagt", "bestatigt", "verschoben", "abgesagt", "raus", "weg damit", "das ist es jetzt", "setz", "stell",
                "decidido", "decidimos", "quedamos", "vamos con", "nos quedamos", "cogemos", "elegimos", "pues la", "pues el", "que sea", "que sean", "lo dejamos", "dejamos", "acordado", "confirmado", "ponemos", "pon", "quiero", "queremos", "al final", "definitivo", "cambiamos", "mejor",
                "decide", "on prend", "je prends", "on part sur", "on garde", "retenu", "choisi", "convenu", "valide", "je veux", "on fait", "ce sera", "finalement", "on annule", "annule", "reporte", "confirme", "on reste",
                "decidiu", "vamos usar", "prendiamo", "deciso",
                "决定", "选", "就用", "就", "改成", "换成", "定了", "确定", "定为", "采用", "算了", "不要了", "同意", "说好", "决め", "にします", "にしま", "でお願い", "決定", "変更", "確定", "採用", "で行", "となりました", "にしよう", "정했", "결정", "로 할", "하기로",
            ],
            Cue::Correction => &[
                "no", "actually", "instead", "rather", "changed", "change of plan", "changed my mind", "scratch that", "correction", "wrong", "mistake", "not anymore", "no longer", "forget", "i meant", "was wrong", "turns out", "on second thought", "after all", "wait", "oops", "hm wait", "scrap", "make it", "updated", "new number", "sorry", "replace", "now", "any more", "anymore", "any longer", "as of today", "since today", "from today", "has moved", "was moved", "is out of date",
                "nein", "doch", "lieber", "statt", "stattdessen", "sondern", "korrektur", "falsch", "vertan", "verschrieben", "vergiss", "doch nicht", "nicht mehr", "anders", "umentschieden", "moment", "geandert", "verschoben", "quatsch", "ach nein", "sorry", "neu", "jetzt", "nun", "inzwischen", "mittlerweile", "ab heute", "seit heute", "nicht langer", "neuerdings", "uberholt",
                "en realidad", "mejor", "en vez de", "en lugar de", "correccion", "sino", "cambio", "cambiamos", "me equivoque", "ya no", "olvida", "perdon", "espera", "al final", "rectifico", "ahora", "desde hoy", "a partir de hoy",
                "en fait", "plutot", "au lieu", "finalement", "erreur", "trompe", "oublie", "non", "corrige", "correction", "ne plus", "n'est plus", "pardon", "change", "maintenant", "desormais", "dorenavant", "a present",
                "adesso", "ora", "invece", "non piu", "agora", "nao mais", "mudou", "cambiato",
                "改", "换", "不是", "更正", "算了", "还是", "说错", "搞错", "重新", "不用了", "不要了", "やっぱり", "訂正", "変更", "ではなく", "じゃなく", "間違", "やはり", "修正", "现在", "不再", "今は", "もう", "なりました", "代わ", "変わ", "替え", "から", "调走", "搬到", "搬去", "改", "이제", "아니", "대신", "변경", "정정",
            ],
            Cue::Preference => &[
                "prefer", "prefers", "preferred", "preference", "favourite", "favorite", "hate", "hates", "can't stand", "love", "loves", "like", "likes", "allergic", "allergy", "vegetarian", "vegan", "intolerant", "can't eat", "doesn't eat", "won't eat", "doesn't drink", "can't have", "dislike", "rather not", "afraid of", "needs", "wants",
                "bevorzuge", "lieber", "am liebsten", "mag", "hasst", "hasse", "allergisch", "allergie", "vegetarisch", "vegetarier", "vegetarierin", "vegan", "vertragt", "isst kein", "trinkt", "gerne", "braucht", "auf keinen",
                "prefiero", "prefiere", "odio", "odia", "alergico", "alergica", "alergia", "vegetariano", "vegetariana", "no come", "no bebe", "gusta", "encanta", "necesita",
                "prefere", "deteste", "allergique", "vegetarien", "vegetarienne", "ne mange", "aime", "besoin",
                "喜欢", "讨厌", "过敏", "不吃", "想要", "希望", "受不了", "好き", "嫌い", "苦手", "アレルギー", "ベジタリアン", "食べられ", "希望", "좋아", "싫어", "알레르기",
            ],
            Cue::Naming => &[
                "is called", "called", "name", "named", "number", "code", "pin", "password", "passphrase", "passcode", "login", "username", "account", "iban", "address", "phone", "email", "mail", "deadline", "due", "until", "by", "date", "appointment", "starts", "ends", "opens", "closes", "price", "cost", "costs", "budget", "total", "limit", "maximum", "minimum", "version", "build", "branch", "ticket", "order", "invoice", "booking", "reservation", "reference", "serial", "key", "id", "room", "floor", "seat", "gate", "size", "width", "height", "wide", "long", "people", "persons", "contact", "owner", "responsible", "belongs", "means", "stands for", "lives", "born", "works",
                "heisst", "name", "nummer", "konto", "adresse", "telefon", "frist", "termin", "bis", "preis", "kostet", "kosten", "budget", "limit", "zimmer", "breit", "hoch", "tief", "passwort", "kennwort", "zustandig", "ansprechpartner", "bedeutet", "wohnt", "geburtstag", "personen", "uhr", "rechnung", "auftrag", "bestellung",
                "se llama", "nombre", "numero", "cuenta", "direccion", "telefono", "plazo", "fecha", "precio", "cuesta", "presupuesto", "limite", "codigo", "contrasena", "pedido", "factura", "personas", "antes del", "hasta el",
                "s'appelle", "nom", "numero", "compte", "adresse", "telephone", "delai", "date", "prix", "coute", "budget", "limite", "code", "commande", "facture", "personnes", "avant le", "jusqu'au", "reference",
                "叫", "名字", "号", "密码", "地址", "电话", "截止", "之前", "价格", "预算", "人数", "版本", "批号", "份", "老师", "という", "番号", "名前", "住所", "電話", "締切", "期限", "価格", "予算", "人数", "様", "さん", "まで", "円", "名", "時", "이름", "번호", "주소", "마감", "가격", "예산",
            ],
            Cue::Quantity => &[
                "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january", "february", "march", "april", "june", "july", "august", "september", "october", "november", "december", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "twenty", "thirty", "forty", "fifty", "hundred", "thousand", "half", "noon", "midnight", "o'clock", "percent", "morning", "evening", "tomorrow", "weeks", "days", "months",
                "montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag", "januar", "februar", "marz", "mai", "juni", "juli", "oktober", "dezember", "zwei", "drei", "vier", "funf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwolf", "zwanzig", "dreissig", "hundert", "tausend", "halb", "prozent", "morgens", "abends", "vormittags", "nachmittags", "wochen", "tage", "monate",
                "lunes", "martes", "miercoles", "jueves", "viernes", "sabado", "domingo", "enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez", "once", "doce", "veinte", "treinta", "cien", "mil", "media", "mediodia", "por ciento", "semanas", "dias", "meses",
                "lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche", "janvier", "fevrier", "avril", "juin", "juillet", "aout", "septembre", "octobre", "novembre", "decembre", "deux", "trois", "quatre", "cinq", "sept", "huit", "neuf", "dix", "onze", "douze", "vingt", "trente", "cent", "midi", "heures", "semaines", "jours", "mois",
                "周一", "周二", "周三", "周四", "周五", "周六", "周日", "星期", "上午", "下午", "月底", "月初", "曜日", "午前", "午後", "월요일", "화요일", "수요일", "목요일", "금요일",
            ],
            Cue::Finding => &[
                "found", "finding", "cause", "root cause", "because", "conclusion", "result", "turns out", "means that", "bug", "defect", "fails", "failed", "failing", "broken", "crash", "crashes", "missing", "duplicate", "twice", "never", "ignores", "not validated", "instead of", "mismatch", "leak", "slow", "error", "wrong", "expired", "confirmed", "verified", "reproduced", "shows", "shown", "leads to", "therefore", "caused by", "explains", "only when", "not by", "does not",
                "gefunden", "ursache", "grund", "weil", "ergebnis", "fehler", "schlagt fehl", "fehlgeschlagen", "kaputt", "fehlt", "doppelt", "bestatigt", "liegt an", "liegt am", "fazit", "deshalb", "daher", "zeigt", "statt",
                "encontrado", "causa", "porque", "resultado", "fallo", "falla", "falta", "duplicado", "confirmado", "conclusion", "incompleta", "por eso", "muestra",
                "trouve", "cause", "parce que", "resultat", "erreur", "echoue", "manque", "double", "confirme", "donc", "montre", "en double",
                "发现", "原因", "因为", "结果", "错误", "失败", "缺", "说明", "结论", "对不上", "不一致", "原因", "結果", "判明", "見つか", "不足", "確認", "発견", "원인", "결과",
            ],
            Cue::Conclusion => &[
                "anyway", "so", "so yes", "in short", "point is", "bottom line", "long story short", "ok so", "right so", "right", "also", "and", "one more", "oh and", "by the way", "btw", "before i forget", "fyi", "heads up", "fine", "ok",
                "jedenfalls", "also", "kurz", "dann", "na gut", "ubrigens", "ach ja", "und noch", "ausserdem", "zuruck", "gut", "okay",
                "pues", "bueno", "total", "en fin", "por cierto", "ah", "y otra", "vale", "resumiendo",
                "bref", "donc", "bon", "au fait", "du coup", "enfin", "d'accord", "par ailleurs",
                "总之", "所以", "对了", "说正事", "另外", "还有", "好吧", "行吧", "第一条", "第二条", "第三条", "で、", "では", "つまり", "ちなみに", "あと", "それから", "なので", "それと", "そして", "아무튼", "그리고", "참고로",
            ],
            Cue::Anecdote => &[
                "years ago", "last year", "when i was", "back then", "once", "used to", "my uncle", "my aunt", "my cousin", "my grandmother", "my grandfather", "my neighbour", "my neighbor", "told me", "she said", "he said", "i remember", "the other day", "reminds me", "story", "apparently", "laughed", "laughing", "funny", "imagine", "honestly", "as a kid", "years", "grew up", "the whole street", "at the time", "of course he", "of course she",
                "damals", "fruher", "letztes jahr", "vor jahren", "mein onkel", "meine tante", "meine oma", "mein opa", "meine schwester", "mein bruder", "meine mutter", "schwiegermutter", "nachbarin", "nachbar", "erzahlt", "hat gesagt", "meinte", "lustig", "gelacht", "frag nicht", "weisst du noch", "einmal", "neulich", "als ich", "geschichte", "jahrelang", "angeblich",
                "hace anos", "el ano pasado", "cuando era", "mi tio", "mi tia", "mi abuela", "mi abuelo", "mi hermana", "mi hermano", "mi madre", "mi cunada", "mi suegra", "vecina", "vecino", "me conto", "me dijo", "una vez", "antes", "risa", "historia", "de pequena", "de pequeno", "fijate", "imaginate",
                "il y a des annees", "l'annee derniere", "quand j'etais", "mon oncle", "ma tante", "ma grand-mere", "ma belle-mere", "voisine", "voisin", "m'a raconte", "m'a dit", "une fois", "a l'epoque", "histoire", "rigole", "figurez", "mon beau-frere",
                "去年", "以前", "小时候", "我妈", "我爸", "我奶奶", "室友", "师姐", "学长", "上届", "听说", "笑死", "哈哈", "那时候", "有一次", "昨晚", "昔", "去年", "子供の頃", "笑", "そういえば", "らしい", "うちの妻", "うちの娘", "思い出", "작년", "옛날", "ㅋㅋ",
            ],
            Cue::SmallTalk => &[
                "thanks", "thank you", "haha", "lol", "cheers", "sorry", "good morning", "hello", "hi", "great", "perfect", "wonderful", "nice", "you're welcome", "no worries", "good luck", "bye", "sure", "of course", "happy to", "glad", "hope", "fair enough", "good point", "good question",
                "danke", "gern", "super", "prima", "toll", "hallo", "guten morgen", "schonen", "viel erfolg", "perfekt", "klar", "freut mich", "alles klar",
                "gracias", "hola", "genial", "perfecto", "buenos dias", "de nada", "claro", "jaja", "por supuesto", "me alegro", "suerte", "ay",
                "merci", "bonjour", "super", "parfait", "de rien", "bien sur", "bonne", "avec plaisir",
                "谢谢", "哈哈", "加油", "好的", "没问题", "辛苦", "呜呜", "ありがとう", "お疲れ", "よろしく", "承知", "かしこまりました", "おはよう", "감사", "안녕",
            ],
            Cue::Process => &[
                "let me", "i'll", "i will", "i'm going to", "now i", "next i", "one moment", "checking", "looking at", "shall i", "should i", "want me to", "would you like", "do you want", "happy to", "if you like", "let me know", "here is", "here are", "here's", "opening", "going to", "going back",
                "ich schaue", "ich sehe", "ich prufe", "ich mache", "moment", "soll ich", "mochtest du", "wenn du", "hier ist", "hier sind", "sag bescheid", "als nachstes", "ich offne",
                "voy a", "miro", "quieres", "te parece", "si quieres", "aqui tienes", "aqui va", "dime", "reviso", "abro",
                "je vais", "je regarde", "voulez-vous", "souhaitez-vous", "veux-tu", "voici", "dites-moi", "je verifie", "j'ouvre",
                "我来", "我先", "要不要", "需要我", "如果你", "下面", "以下是", "しましょうか", "ご希望", "いかが", "以下", "確認します", "작성해", "할까요",
            ],
            Cue::Request => &[
                "please", "can you", "could you", "go", "goto", "navigate", "open", "tap", "click", "press", "scroll", "show", "tell", "check", "try", "do it", "now", "next", "continue", "look", "start", "type", "enter", "swipe", "find", "write", "draft", "explain", "summarize", "give me",
                "bitte", "kannst du", "zeig", "schau", "mach weiter", "weiter", "prufe", "such", "schreib", "erklar", "sag mir", "gib mir",
                "por favor", "puedes", "muestrame", "mira", "sigue", "busca", "escribe", "dime", "dame",
                "s'il te plait", "s'il vous plait", "peux-tu", "pouvez-vous", "montre", "regarde", "continue", "cherche", "ecris", "dis-moi",
                "请", "帮我", "看看", "继续", "お願い", "教えて", "見せて", "해줘",
            ],
        }
    }

    /// All lists.
    const ALL: [Cue; 12] = [
        Cue::Rule,
        Cue::Decision,
        Cue::Correction,
        Cue::Preference,
        Cue::Naming,
        Cue::Quantity,
        Cue::Finding,
        Cue::Conclusion,
        Cue::Anecdote,
        Cue::SmallTalk,
        Cue::Process,
        Cue::Request,
    ];
}

/// The lists, arranged so that a sentence is read once.
struct Lists {
    /// Words and phrases by their first word.
    by_word: HashMap<&'static str, Vec<(&'static str, Cue)>>,
    /// Words of scripts without spaces.
    dense: Vec<(&'static str, Cue)>,
}

static LISTS: LazyLock<Lists> = LazyLock::new(|| {
    let mut lists = Lists { by_word: HashMap::new(), dense: Vec::new() };
    for cue in Cue::ALL {
        for text in cue.words() {
            if text.contains(is_dense) {
                lists.dense.push((text, cue));
            } else {
                let first = text.split(' ').next().unwrap_or(text);
                lists.by_word.entry(first).or_default().push((text, cue));
            }
        }
    }
    lists
});

/// What the words of a sentence tell about it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cues {
    counts: [u8; Cue::ALL.len()],
    /// Lists that have the first words of the sentence.
    starts: [bool; Cue::ALL.len()],
}

impl Cues {
    /// Reads a folded sentence.
    pub fn of(folded: &str) -> Self {
        let mut found = Self::default();
        let mut seen: Vec<(&str, Cue)> = Vec::new();
        let bare = |word: &str| -> String { word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned() };
        let words: Vec<String> = folded.split_whitespace().map(bare).collect();
        let mut add = |text: &'static str, cue: Cue, first: bool| {
            if !seen.contains(&(text, cue)) {
                seen.push((text, cue));
                found.counts[cue as usize] = found.counts[cue as usize].saturating_add(1);
            }
            found.starts[cue as usize] |= first;
        };
        for (i, word) in words.iter().enumerate() {
            for (text, cue) in LISTS.by_word.get(word.as_str()).into_iter().flatten() {
                if text.split(' ').enumerate().all(|(n, part)| words.get(i + n).is_some_and(|w| w == part)) {
                    add(text, *cue, i == 0);
                }
            }
        }
        if folded.contains(is_dense) {
            for (text, cue) in LISTS.dense.iter().filter(|(text, _)| folded.contains(text)) {
                add(text, *cue, folded.starts_with(text));
            }
        }
        found
    }

    /// Returns how many different words of a list occur.
    pub fn count(&self, cue: Cue) -> usize {
        usize::from(self.counts[cue as usize])
    }

    /// Returns whether any word of a list occurs.
    pub fn has(&self, cue: Cue) -> bool {
        self.count(cue) > 0
    }

    /// Returns whether the sentence starts with a word of a list.
    pub fn starts(&self, cue: Cue) -> bool {
        self.starts[cue as usize]
    }
}
