//! `model.*`: the embedding models.

params! {
    /// Parameters of `model.add`.
    #[derive(Default)]
    pub struct ModelAddParams {
        /// Path of the directory that contains `config.json`, `tokenizer.json` and `model.safetensors`.
        pub directory: String,
    }

    /// Parameters of `model.remove`.
    #[derive(Default)]
    pub struct ModelRemoveParams {}
}

wire! {
    /// An embedding model.
    pub struct EmbeddingModel {
        /// Identity of the model: its kind, its name and a hash of its files.
        pub identity: String,
        /// Number of dimensions of the model's vectors; absent until it has produced a vector.
        pub dimensions: Option<u32>,
        /// Number of entries that have a current vector from the model.
        pub embedded: i64,
        /// Number of entries whose current vector has not been computed yet.
        pub pending: i64,
        /// Reason why the model cannot be used; absent if the model can be used.
        pub error: Option<String>,
    }

    /// Result of `model.add`.
    pub struct ModelAdded {
        /// Identity of the model.
        pub identity: String,
        /// Number of dimensions of the model's vectors.
        pub dimensions: u32,
        /// Time that the model took to embed a short sentence, in milliseconds.
        pub sentence_ms: f64,
        /// Path of the model's directory, as saved in the settings.
        pub directory: String,
        /// Number of entries for which new vectors are being computed in the background.
        pub pending: i64,
    }

    /// Result of `model.remove`.
    pub struct ModelRemoved {
        /// Number of vectors that were deleted.
        pub deleted: i64,
    }
}

methods! {
    /// Checks a sentence model in a directory, and uses it for embeddings from now on.
    ModelAdd = "model.add" (ModelAddParams) -> ModelAdded, Admin, [StoreUnavailable, StoreFull, Conflict], r#"{"directory":"/home/me/all-MiniLM-L6-v2"}"#;
    /// Switches back to the built-in model, and deletes the vectors of all other models.
    ModelRemove = "model.remove" (ModelRemoveParams) -> ModelRemoved, Admin, [StoreUnavailable, StoreFull, Conflict], r#"{}"#;
}
