//! `pattern.*` and `pageModel.*`: learned statements and page models, both of which outlive sessions.

use serde_json::Value;

words! {
    /// Kind of pattern.
    PatternKind {
        /// Fact worth remembering.
        KeyFact = "keyFact",
        /// Element that is missing at times or behaves inconsistently.
        FlakyElement = "flakyElement",
        /// Input that a field accepts or rejects.
        ValidationRule = "validationRule",
        /// Expected appearance of a page or element.
        VisualBaseline = "visualBaseline",
        /// User preference.
        UserPreference = "userPreference",
        /// Solution to a problem.
        Solution = "solution",
        /// Steps for accomplishing a task.
        Procedure = "procedure",
    }

    /// Visibility of a learned pattern. It controls sharing, not access.
    PatternScope {
        /// Only the session that learned the pattern.
        Session = "session",
        /// All sessions that use the pattern's app.
        App = "app",
        /// All sessions.
        Everybody = "everybody",
    }
}

params! {
    /// Parameters of `pattern.save`. Saving a pattern again raises its confidence, unless the source of the saved
    /// pattern carries more weight than the new source. The user carries more weight than the assistant, and the
    /// assistant carries more weight than pages and tools.
    pub struct PatternSaveParams {
        /// Kind of pattern.
        pub kind: PatternKind,
        /// Text of the statement.
        pub text: String where chars 1..=2000,
        /// URL, page key, activity or state that the pattern is about; if omitted, the pattern applies to all pages.
        pub page: Option<String> where chars 1..=2000,
        /// Package that the pattern is about; if omitted, the pattern applies to all apps.
        pub app: Option<String> where chars 1..=255,
        /// Structured details, at most 64 KiB: for example an element and its rule, or the artifact of a baseline.
        pub data: Option<serde_json::Map<String, Value>>,
        /// Initial confidence, before any reported use.
        pub confidence: Option<f64> where 0.0..=1.0 = 0.5,
        /// Visibility of the pattern. By default `session` if the session has the scope `session`, else `app` if `app`
        /// is given. Without `app`, the default is `session` for a `keyFact`, and `everybody` for other kinds.
        pub scope: Option<PatternScope>,
        /// Source of the statement: `user`, `assistant`, `page`, or the name of a tool.
        pub source: Option<String> where chars 1..=100 = "assistant",
        /// Session that learned the pattern.
        pub session: Option<String> = crate::vocabulary::DEFAULT_SESSION,
    }

    /// Parameters of `pattern.list`.
    #[derive(Default)]
    pub struct PatternListParams {
        /// Only patterns with this scope.
        pub scope: Option<PatternScope>,
        /// Only patterns about this package.
        pub app: Option<String>,
        /// Only patterns learned by this session.
        pub session: Option<String>,
        /// Maximum number of patterns.
        pub limit: Option<u32> where 1..=10_000 = 100,
    }

    /// Parameters of `pattern.promote`.
    pub struct PatternPromoteParams {
        /// Id of the pattern whose scope to change.
        pub id: i64,
        /// New visibility of the pattern.
        pub scope: PatternScope,
    }

    /// Parameters of `pattern.find`. Patterns with the scope `session` are found only if `session` names their session.
    #[derive(Default)]
    pub struct PatternFindParams {
        /// Only patterns about this page (URL, page key, activity or state), and patterns about no page in particular.
        pub page: Option<String> where chars 1..=2000,
        /// Only patterns about this package, and patterns about no app in particular.
        pub app: Option<String>,
        /// Only patterns of this kind.
        pub kind: Option<PatternKind>,
        /// Only patterns learned by this session.
        pub session: Option<String>,
        /// Only patterns whose text contains this string; case is ignored.
        pub text: Option<String>,
        /// Minimum confidence of the patterns.
        pub min_confidence: Option<f64> where 0.0..=1.0 = 0.0,
        /// Maximum number of patterns.
        pub limit: Option<u32> where 1..=10_000 = 20,
    }

    /// Parameters of `pattern.used`.
    #[derive(Default)]
    pub struct PatternUsedParams {
        /// Id of the pattern that was used.
        pub id: i64,
        /// Whether the pattern held true; omit this parameter if unknown.
        pub held: Option<bool>,
    }

    /// Parameters of `pattern.merge`.
    #[derive(Default)]
    pub struct PatternMergeParams {
        /// Id of the pattern to merge and then delete.
        pub id: i64,
        /// Id of the pattern to keep, which gets the reported uses of both.
        pub into: i64,
    }

    /// Parameters of `pattern.delete`.
    #[derive(Default)]
    pub struct PatternDeleteParams {
        /// Id of the pattern to delete.
        pub id: i64,
    }

    /// Parameters of `pageModel.save`. Saving the same page again updates the stability of its model.
    #[derive(Default)]
    pub struct PageModelSaveParams {
        /// URL, page key, activity or state of the page.
        pub page: String where chars 1..=2000,
        /// Type of page, for example `form`, `list`, `detail` or `dialog`; 1 to 100 characters.
        pub page_type: String where chars 1..=100,
        /// Elements of the page.
        pub elements: Vec<PageElement> where items 0..=2000,
        /// Package of the page's app.
        pub app: Option<String> where chars 1..=255,
    }

    /// Parameters of `pageModel.find`.
    #[derive(Default)]
    pub struct PageModelFindParams {
        /// URL, page key, activity or state of a page. Models of this page come first, then those of similar pages. If
        /// omitted, the newest models are returned.
        pub page: Option<String> where chars 1..=2000,
        /// Only models of this package.
        pub app: Option<String>,
        /// Maximum number of models.
        pub limit: Option<u32> where 1..=10_000 = 5,
    }

    /// Parameters of `pageModel.delete`.
    #[derive(Default)]
    pub struct PageModelDeleteParams {
        /// Id of the page model to delete.
        pub id: i64,
    }

    /// An element of a page model.
    pub struct PageElement {
        /// Name of the element.
        pub name: String where chars 1..=300,
        /// Role of the element, for example `button` or `field`.
        pub role: Option<String>,
        /// Way to find the element: resource id, selector or label.
        pub selector: Option<String>,
        /// Rule for the element: input that it accepts, or its behaviour.
        pub rule: Option<String>,
    }
}

wire! {
    /// A pattern: a learned statement with its confidence.
    pub struct Pattern {
        /// Id in this database.
        pub id: i64,
        /// Unique id, the same in every copy of this memory.
        pub uid: String,
        /// Uid of the memory that the pattern came from; absent if it originated in this memory.
        pub origin: Option<String>,
        /// Kind of pattern.
        pub kind: PatternKind,
        /// Text of the statement.
        pub text: String,
        /// Visibility of the pattern.
        pub scope: PatternScope,
        /// Source of the statement; absent if the source was not recorded.
        pub source: Option<String>,
        /// Package that the pattern is about; absent if it applies to all apps.
        pub app: Option<String>,
        /// Page that the pattern is about, with placeholders for variable parts such as ids; absent if it applies to
        /// all pages.
        pub page: Option<String>,
        /// Structured details of the pattern.
        pub data: Option<Value>,
        /// Confidence, 0 to 1: the initial confidence, adjusted by the reported uses.
        pub confidence: f64,
        /// Number of reported uses.
        pub usage_count: i64,
        /// Number of reported uses in which the pattern held true.
        pub success_count: i64,
        /// Number of reported uses in which the pattern did not hold true.
        pub failure_count: i64,
        /// Time of the last reported use, in Unix milliseconds; absent if no use was reported.
        pub last_used_at: Option<i64>,
        /// Session that learned the pattern.
        pub session: Option<String>,
        /// Time at which the pattern was created, in Unix milliseconds.
        pub created_at: i64,
    }

    /// Result of `pattern.find` and `pattern.list`. `pattern.find` returns patterns about the page first, then those
    /// about the app, then the rest, each group by decreasing confidence.
    pub struct Patterns {
        /// Requested page, with placeholders for variable parts such as ids.
        pub page: Option<String>,
        /// The patterns.
        pub patterns: Vec<Pattern>,
    }

    /// Result of `pattern.delete` and `pageModel.delete`.
    pub struct DeleteResult {
        /// Id of the deleted entry.
        pub id: i64,
        /// Uid of the deleted entry.
        pub uid: String,
    }

    /// A model of a page.
    pub struct PageModel {
        /// Id in this database.
        pub id: i64,
        /// Unique id, the same in every copy of this memory.
        pub uid: String,
        /// Uid of the memory that the model came from; absent if it originated in this memory.
        pub origin: Option<String>,
        /// Package of the page's app.
        pub app: Option<String>,
        /// Page that the model describes, with placeholders for variable parts such as ids.
        pub page: String,
        /// Type of page, for example `form`.
        pub page_type: String,
        /// Elements of the page.
        pub elements: Vec<PageElement>,
        /// Stability of the page's elements, 0 to 1: a moving average of the overlap between consecutive versions.
        pub stability_score: f64,
        /// Number of times the page was saved.
        pub seen_count: i64,
        /// Time of the last save, in Unix milliseconds.
        pub updated_at: i64,
        /// Similarity to the requested page, 0 to 1, where 1 is the page itself; absent if no page was requested.
        pub similarity: Option<f64>,
    }

    /// Result of `pageModel.find`, most similar first.
    pub struct PageModels {
        /// Requested page, with placeholders for variable parts such as ids.
        pub page: Option<String>,
        /// The page models.
        pub page_models: Vec<PageModel>,
    }
}

methods! {
    /// Saves a learned pattern; saving the pattern again raises its confidence.
    PatternSave = "pattern.save" (PatternSaveParams, SESSION) -> Pattern, Admin, [StoreUnavailable, StoreFull], r#"{"kind":"validationRule","text":"the e-mail field refuses addresses without a dot","page":"https://shop.example/users/12/profile"}"#;
    /// Finds patterns by page, app, kind, session or text.
    PatternFind = "pattern.find" (PatternFindParams) -> Patterns, Read, [NotFound, StoreUnavailable], r#"{"page":"https://shop.example/users/77/profile"}"#;
    /// Lists patterns of all scopes, newest first.
    PatternList = "pattern.list" (PatternListParams) -> Patterns, Read, [NotFound, StoreUnavailable], r#"{"scope":"session","limit":20}"#;
    /// Widens or narrows the scope of a pattern.
    PatternPromote = "pattern.promote" (PatternPromoteParams) -> Pattern, Admin, [NotFound, Conflict, StoreUnavailable, StoreFull], r#"{"id":1,"scope":"session"}"#;
    /// Records that a pattern was used, and whether it held true.
    PatternUsed = "pattern.used" (PatternUsedParams) -> Pattern, Admin, [NotFound, StoreUnavailable, StoreFull], r#"{"id":1,"held":true}"#;
    /// Merges a pattern into another pattern with the same meaning and the same subject.
    PatternMerge = "pattern.merge" (PatternMergeParams) -> Pattern, Admin, [NotFound, Conflict, StoreUnavailable, StoreFull], r#"{"id":2,"into":1}"#;
    /// Deletes a pattern.
    PatternDelete = "pattern.delete" (PatternDeleteParams) -> DeleteResult, Admin, [NotFound, StoreUnavailable, StoreFull], r#"{"id":1}"#;
    /// Saves a model of a page's elements; saving the same page again updates the stability of the model.
    PageModelSave = "pageModel.save" (PageModelSaveParams) -> PageModel, Admin, [StoreUnavailable, StoreFull], r#"{"page":"https://shop.example/cart","pageType":"list","elements":[{"name":"Pay","role":"button"}]}"#;
    /// Finds models of a page and of similar pages.
    PageModelFind = "pageModel.find" (PageModelFindParams) -> PageModels, Read, [StoreUnavailable], r#"{"page":"https://shop.example/cart"}"#;
    /// Deletes a page model.
    PageModelDelete = "pageModel.delete" (PageModelDeleteParams) -> DeleteResult, Admin, [NotFound, StoreUnavailable, StoreFull], r#"{"id":1}"#;
}
