//! `pattern.*` and `pageModel.*`: what was learned about pages and what holds in general, over all sessions.

use serde_json::Value;

words! {
    /// What kind of thing a pattern says (seed 002).
    PatternKind {
        /// Something that was said or found and is worth keeping.
        KeyFact = "keyFact",
        /// An element that is not always there, or does not always do the same.
        FlakyElement = "flakyElement",
        /// What a field accepts.
        ValidationRule = "validationRule",
        /// What something is to look like.
        VisualBaseline = "visualBaseline",
        /// What a person wants.
        UserPreference = "userPreference",
        /// What cured an error.
        Solution = "solution",
        /// How something is done.
        Procedure = "procedure",
    }
}

params! {
    /// Parameters of `pattern.save`. The same again strengthens it.
    pub struct PatternSaveParams {
        /// What kind of thing it says.
        pub kind: PatternKind,
        /// What it says; 1 to 2,000 characters.
        pub text: String,
        /// URL, page key, activity or state that it is about; none means that it holds everywhere in the app.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub page: Option<String>,
        /// Package; none means that it holds everywhere.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub app: Option<String>,
        /// Facts of it: the element and its rule, the artifact of a baseline.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub data: Option<serde_json::Map<String, Value>>,
        /// How sure it is before it was used, 0 to 1; by default 0.5.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub confidence: Option<f64>,
        /// Session that learned it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub session: Option<String>,
    }

    /// Parameters of `pattern.find`.
    #[derive(Default)]
    pub struct PatternFindParams {
        /// Those about the page that this URL, page key, activity or state is, and those about none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub page: Option<String>,
        /// Those about this package, and those about none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub app: Option<String>,
        /// Only those of this kind.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub kind: Option<PatternKind>,
        /// Only those that this session learned.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub session: Option<String>,
        /// Only those whose text contains this, in any case.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub text: Option<String>,
        /// Only those that are at least so sure, 0 to 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub min_confidence: Option<f64>,
        /// At most this many, by default 20, at most 10,000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub limit: Option<u32>,
    }

    /// Parameters of `pattern.used`.
    #[derive(Default)]
    pub struct PatternUsedParams {
        /// Its number.
        pub id: i64,
        /// Whether it held; left out when that is not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub held: Option<bool>,
    }

    /// Parameters of `pattern.delete`.
    #[derive(Default)]
    pub struct PatternDeleteParams {
        /// Its number.
        pub id: i64,
    }

    /// Parameters of `pageModel.save`. The same page again says how stable it is.
    #[derive(Default)]
    pub struct PageModelSaveParams {
        /// URL, page key, activity or state.
        pub page: String,
        /// For example `form`, `list`, `detail`, `dialog`.
        pub page_type: String,
        /// Its elements.
        pub elements: Vec<PageElement>,
        /// Package.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub app: Option<String>,
    }

    /// Parameters of `pageModel.find`.
    #[derive(Default)]
    pub struct PageModelFindParams {
        /// Models of the page that this URL, page key, activity or state is, then of pages like it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub page: Option<String>,
        /// Only those of this package.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub app: Option<String>,
        /// At most this many, by default 5, at most 10,000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub limit: Option<u32>,
    }

    /// Parameters of `pageModel.delete`.
    #[derive(Default)]
    pub struct PageModelDeleteParams {
        /// Its number.
        pub id: i64,
    }

    /// An element of a page.
    pub struct PageElement {
        /// What it is called.
        pub name: String,
        /// For example `button`, `field`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub role: Option<String>,
        /// How it is found: resource id, selector, label.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub selector: Option<String>,
        /// What it accepts or does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub rule: Option<String>,
    }
}

wire! {
    /// A pattern.
    pub struct Pattern {
        /// Its number in this store.
        pub id: i64,
        /// Names it in every copy of this memory.
        pub uid: String,
        /// What kind of thing it says.
        pub kind: PatternKind,
        /// What it says.
        pub text: String,
        /// Package.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub app: Option<String>,
        /// The page, without what is different each time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub page: Option<String>,
        /// Facts of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub data: Option<Value>,
        /// How sure it is, 0 to 1: what it was believed at first, and what use made of that.
        pub confidence: f64,
        /// How often it was used.
        pub usage_count: i64,
        /// How often it held.
        pub success_count: i64,
        /// How often it did not.
        pub failure_count: i64,
        /// When it was used last, UTC milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub last_used_at: Option<i64>,
        /// Session that learned it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub session: Option<String>,
        /// When it was learned, UTC milliseconds.
        pub created_at: i64,
    }

    /// Patterns: those about the page first, surest first.
    pub struct Patterns {
        /// The page that was meant, without what is different each time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub page: Option<String>,
        /// The patterns.
        pub patterns: Vec<Pattern>,
    }

    /// Something that was deleted.
    pub struct PatternDeleted {
        /// Its number.
        pub id: i64,
        /// Its uid.
        pub uid: String,
    }

    /// What is known of a page.
    pub struct PageModel {
        /// Its number in this store.
        pub id: i64,
        /// Names it in every copy of this memory.
        pub uid: String,
        /// Package.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub app: Option<String>,
        /// The page, without what is different each time.
        pub page: String,
        /// For example `form`.
        pub page_type: String,
        /// Its elements.
        pub elements: Vec<PageElement>,
        /// How much of it was the same from one time to the next, 0 to 1; newer times count more.
        pub stability_score: f64,
        /// How often it was saved.
        pub seen_count: i64,
        /// Last time, UTC milliseconds.
        pub updated_at: i64,
        /// How close it is to the page that was asked about, 0 to 1; 1 is the very page.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub similarity: Option<f64>,
    }

    /// Models of pages, closest first.
    pub struct PageModels {
        /// The page that was meant, without what is different each time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub page: Option<String>,
        /// The models.
        pub page_models: Vec<PageModel>,
    }
}

methods! {
    /// Keeps something that was learned; the same again makes it surer.
    PatternSave = "pattern.save" (PatternSaveParams, SESSION) -> Pattern, Admin, [StoreUnavailable, StoreFull], r#"{"kind":"validationRule","text":"the e-mail field refuses addresses without a dot","page":"https://shop.example/users/12/profile"}"#;
    /// Finds what was learned about a page, an app, or in a session.
    PatternFind = "pattern.find" (PatternFindParams) -> Patterns, Read, [NotFound, StoreUnavailable], r#"{"page":"https://shop.example/users/77/profile"}"#;
    /// Tells that a pattern was used, and whether it held.
    PatternUsed = "pattern.used" (PatternUsedParams) -> Pattern, Admin, [NotFound, StoreUnavailable, StoreFull], r#"{"id":1,"held":true}"#;
    /// Deletes a pattern.
    PatternDelete = "pattern.delete" (PatternDeleteParams) -> PatternDeleted, Admin, [NotFound, StoreUnavailable, StoreFull], r#"{"id":1}"#;
    /// Keeps what a page is made of; the same page again tells how stable it is.
    PageModelSave = "pageModel.save" (PageModelSaveParams) -> PageModel, Admin, [StoreUnavailable, StoreFull], r#"{"page":"https://shop.example/cart","pageType":"list","elements":[{"name":"Pay","role":"button"}]}"#;
    /// Finds what a page and pages like it are made of.
    PageModelFind = "pageModel.find" (PageModelFindParams) -> PageModels, Read, [StoreUnavailable], r#"{"page":"https://shop.example/cart"}"#;
    /// Deletes what is known of a page.
    PageModelDelete = "pageModel.delete" (PageModelDeleteParams) -> PatternDeleted, Admin, [NotFound, StoreUnavailable, StoreFull], r#"{"id":1}"#;
}
