//! `model.*`: the models that make embeddings.

params! {
    /// Parameters of `model.add`.
    #[derive(Default)]
    pub struct ModelAddParams {
        /// Directory with `config.json`, `tokenizer.json` and `model.safetensors`.
        pub directory: String,
    }

    /// Parameters of `model.remove`.
    #[derive(Default)]
    pub struct ModelRemoveParams {}
}

wire! {
    /// A model that makes embeddings.
    pub struct EmbeddingModel {
        /// Kind, name and hash of its files.
        pub identity: String,
        /// Number of components of a vector; absent before it made one.
        pub dimensions: Option<u32>,
        /// Number of entries with a current vector.
        pub embedded: i64,
        /// Number of entries without.
        pub pending: i64,
        /// Why it cannot be used.
        pub error: Option<String>,
    }

    /// Result of `model.add`.
    pub struct ModelAdded {
        /// Identity of the model.
        pub identity: String,
        /// Number of components of a vector.
        pub dimensions: u32,
        /// How long a short sentence took, milliseconds.
        pub sentence_ms: f64,
        /// Directory, as it stands in the settings.
        pub directory: String,
        /// Number of entries that get new vectors in the background.
        pub pending: i64,
    }

    /// Result of `model.remove`.
    pub struct ModelRemoved {
        /// Number of vectors that were deleted.
        pub deleted: i64,
    }
}

methods! {
    /// Checks a sentence model in a directory and makes embeddings with it from now on.
    ModelAdd = "model.add" (ModelAddParams) -> ModelAdded, Admin, [StoreUnavailable, StoreFull, Conflict], r#"{"directory":"/home/me/all-MiniLM-L6-v2"}"#;
    /// Goes back to the built-in model, and deletes the vectors of others.
    ModelRemove = "model.remove" (ModelRemoveParams) -> ModelRemoved, Admin, [StoreUnavailable, StoreFull, Conflict], r#"{}"#;
}
