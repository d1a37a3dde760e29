//! `visual.import` and `visual.export`: the files of the tool that the visual memory comes from.

use crate::import::Tally;
use crate::visual::About;

params! {
    /// Parameters of `visual.import`.
    #[derive(Default)]
    pub struct ImportParams {
        /// Directory of an app, or of several; an absolute path. Nothing in it is changed.
        pub dir: String,
        /// What to call the app; by default as its files or its directory say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub app: Option<String>,
        /// Tell what would be done, and do nothing.
        #[serde(default)]
        pub dry_run: bool,
        /// Session that the pictures belong to, by default `"default"`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub session: Option<String>,
    }
}

params! {
    /// Parameters of `visual.export`.
    #[derive(Default)]
    pub struct ExportParams {
        /// Directory to write into, an absolute path; each app gets a directory in it, which must not be there.
        pub dir: String,
        /// Only this app, with its sites; by default all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub app: Option<String>,
        /// Only this site of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub site: Option<String>,
    }
}

wire! {
    /// Why something was not taken over as it is.
    #[derive(Eq)]
    pub struct FileRemark {
        /// File, relative to the directory.
        pub file: String,
        /// Key of the row; empty for the file itself.
        pub key: String,
        /// Why.
        pub why: String,
    }

    /// What became of an app or site.
    pub struct Imported {
        /// What it is here.
        #[serde(flatten)]
        pub about: About,
        /// Its directory, relative to the one that was given.
        pub dir: String,
        /// Components.
        pub components: Tally,
        /// States.
        pub states: Tally,
        /// Transitions.
        pub transitions: Tally,
        /// Pictures of components and pages.
        pub pictures: Tally,
        /// What was not taken over as it is.
        pub remarks: Vec<FileRemark>,
    }

    /// What an import did, or would do.
    pub struct ImportedFiles {
        /// Whether nothing was done.
        pub dry_run: bool,
        /// Apps and sites.
        pub imported: Vec<Imported>,
    }

    /// What was written of an app or site.
    pub struct Exported {
        /// What it is.
        #[serde(flatten)]
        pub about: About,
        /// Its directory.
        pub dir: String,
        /// Components.
        pub components: u32,
        /// States.
        pub states: u32,
        /// Transitions.
        pub transitions: u32,
        /// Pictures.
        pub pictures: u32,
        /// Pictures whose files are gone.
        pub missing_pictures: u32,
    }

    /// What was written.
    pub struct ExportedFiles {
        /// Apps and sites.
        pub exported: Vec<Exported>,
    }
}

methods! {
    /// Takes over the visual memory of the tool that it comes from: all three eras of its files, with pictures and sites.
    VisualImport = "visual.import" (ImportParams, SESSION) -> ImportedFiles, Admin, [NotFound, StoreUnavailable, StoreFull], r#"{"dir":"/nonexistent/apps","dryRun":true}"#;
    /// Writes the visual memory as that tool would, so that it can read it.
    VisualExport = "visual.export" (ExportParams) -> ExportedFiles, Admin, [NotFound, StoreUnavailable, StoreFull], r#"{"dir":"/nonexistent/out"}"#;
}
