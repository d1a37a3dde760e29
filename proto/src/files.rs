//! `visual.import` and `visual.export`: exchanging visual memories with the tool that introduced their file format.

use crate::import::Tally;
use crate::visual::ScopeInfo;

params! {
    /// Parameters of `visual.import`.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(rename = "VisualImportParams"))]
    pub struct ImportParams {
        /// Absolute path of an app's directory, or of the parent directory of several app directories. The directory is
        /// not changed.
        pub dir: String,
        /// Name under which to import the app; by default the name in its files, else the name of its directory. Not
        /// allowed if `dir` contains several apps.
        pub app: Option<String>,
        /// Whether to report what would be imported without importing it.
        #[serde(default)]
        pub dry_run: bool,
        /// Session that the imported pictures belong to.
        pub session: Option<String> = crate::vocabulary::DEFAULT_SESSION,
    }
}

params! {
    /// Parameters of `visual.export`.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(rename = "VisualExportParams"))]
    pub struct ExportParams {
        /// Absolute path of the directory to write to. Each app gets a subdirectory, which must not already contain an
        /// export.
        pub dir: String,
        /// Only this app and the sites in it; by default all apps.
        pub app: Option<String>,
        /// Only this site of the app.
        pub site: Option<String>,
    }
}

wire! {
    /// Remark about data that was skipped or changed.
    #[derive(Eq)]
    pub struct FileRemark {
        /// Path of the file, relative to the imported directory.
        pub file: String,
        /// Key of the affected entry in the file; empty if the remark concerns the whole file.
        pub key: String,
        /// Reason why the data was skipped or changed.
        pub why: String,
    }

    /// Import result for an app or site.
    pub struct ImportedScope {
        /// App and site that the data was imported as.
        #[serde(flatten)]
        pub about: ScopeInfo,
        /// Directory of the app or site, relative to the given directory.
        pub dir: String,
        /// Counts of components.
        pub components: Tally,
        /// Counts of states.
        pub states: Tally,
        /// Counts of transitions.
        pub transitions: Tally,
        /// Counts of component and page pictures.
        pub pictures: Tally,
        /// Remarks about data that was skipped or changed.
        pub remarks: Vec<FileRemark>,
    }

    /// Result of `visual.import`.
    pub struct VisualImportResult {
        /// Whether this was a dry run.
        pub dry_run: bool,
        /// Result for each app and site.
        pub imported: Vec<ImportedScope>,
    }

    /// Export result for an app or site.
    pub struct ExportedScope {
        /// App or site that was exported.
        #[serde(flatten)]
        pub about: ScopeInfo,
        /// Absolute path of the directory that the app or site was exported to.
        pub dir: String,
        /// Number of exported components.
        pub components: u32,
        /// Number of exported states.
        pub states: u32,
        /// Number of exported transitions.
        pub transitions: u32,
        /// Number of exported pictures.
        pub pictures: u32,
        /// Number of pictures whose files are missing.
        pub missing_pictures: u32,
    }

    /// Result of `visual.export`.
    pub struct VisualExportResult {
        /// Result for each app and site.
        pub exported: Vec<ExportedScope>,
    }
}

methods! {
    /// Imports files from the original visual-memory tool, in any of its three formats, including pictures and sites.
    VisualImport = "visual.import" (ImportParams, SESSION) -> VisualImportResult, Admin, [NotFound, StoreUnavailable, StoreFull], r#"{"dir":"/nonexistent/apps","dryRun":true}"#;
    /// Exports the visual memory as files that the original visual-memory tool can read.
    VisualExport = "visual.export" (ExportParams) -> VisualExportResult, Admin, [NotFound, StoreUnavailable, StoreFull], r#"{"dir":"/nonexistent/out"}"#;
}
