//! A collection: one shard of Qdrant's engine with one unnamed vector.

use std::path::Path;
use std::sync::{Mutex, PoisonError, RwLock};

use axum::http::StatusCode;
use qdrant_edge::{
    CountRequest, CreateIndex, DEFAULT_VECTOR_NAME, Distance, EdgeConfigBuilder, EdgeShard, EdgeVectorParamsBuilder, FieldIndexOperations,
    Filter, NamedQuery, OperationError, PointId, PointIdsList, PointInsertOperations, PointOperations, QueryEnum, QueryRequest, Record,
    ScoredPoint, ScoringQuery, ScrollRequest, UpdateOperation, VectorInternal, VectorStructInternal, VectorStructPersisted,
    WithPayloadInterface, WithVector,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// What is answered instead of a result: the status, and what Qdrant says.
pub type Refusal = (StatusCode, String);
type Answer = Result<Value, Refusal>;

/// Returns a refusal because of what was asked for.
pub fn bad(why: impl std::fmt::Display) -> Refusal {
    (StatusCode::BAD_REQUEST, format!("Wrong input: {why}"))
}

fn invalid(why: &str) -> Refusal {
    (StatusCode::UNPROCESSABLE_ENTITY, format!("Validation error in JSON body: [{why}]"))
}

fn refusal(error: OperationError) -> Refusal {
    match &error {
        OperationError::PointIdError { .. } => (StatusCode::NOT_FOUND, format!("Not found: {error}")),
        OperationError::ServiceError { .. } => (StatusCode::INTERNAL_SERVER_ERROR, format!("Service internal error: {error}")),
        _ => bad(error),
    }
}

fn parsed<T: DeserializeOwned>(body: Value) -> Result<T, Refusal> {
    serde_json::from_value(body).map_err(|e| (StatusCode::BAD_REQUEST, format!("Format error in JSON body: {e}")))
}

/// Body of the request that creates a collection.
#[derive(Deserialize)]
struct Create {
    vectors: Vectors,
}

#[derive(Deserialize)]
struct Vectors {
    size: usize,
    distance: Distance,
}

/// Body of a query.
#[derive(Deserialize)]
struct Query {
    query: Vec<f32>,
    #[serde(default)]
    filter: Option<Filter>,
    #[serde(default)]
    limit: Option<usize>,
    #[serde(default)]
    with_payload: Option<WithPayloadInterface>,
    #[serde(default)]
    score_threshold: Option<f32>,
}

/// A collection.
pub struct Collection {
    /// `None` once it is deleted.
    shard: RwLock<Option<EdgeShard>>,
    size: usize,
    /// Held while something is written: the engine must not be flushed meanwhile.
    writing: Mutex<()>,
}

impl Collection {
    /// Creates a collection in a directory that does not exist.
    pub fn create(dir: &Path, body: Value) -> Result<Self, Refusal> {
        let Create { vectors: Vectors { size, distance } } = parsed(body)?;
        if !(1..=65_536).contains(&size) {
            return Err(invalid(&format!("vectors.size: value {size} invalid, must be from 1 to 65536")));
        }
        std::fs::create_dir_all(dir).map_err(|e| (StatusCode::INTERNAL_SERVER_ERROR, e.to_string()))?;
        let vectors = EdgeVectorParamsBuilder::new(size, distance).build();
        let config = EdgeConfigBuilder::new().vector(DEFAULT_VECTOR_NAME, vectors).build();
        let shard = EdgeShard::new(dir, config).map_err(refusal)?;
        shard.flush();
        Ok(Self { shard: RwLock::new(Some(shard)), size, writing: Mutex::new(()) })
    }

    /// Opens a collection that was created before.
    pub fn open(dir: &Path) -> Result<Self, Refusal> {
        let shard = EdgeShard::load(dir, None).map_err(refusal)?;
        let size = shard.config().vectors.get(DEFAULT_VECTOR_NAME).map_or(0, |vectors| vectors.size);
        Ok(Self { shard: RwLock::new(Some(shard)), size, writing: Mutex::new(()) })
    }

    /// Runs work on the shard.
    fn with<T>(&self, work: impl FnOnce(&EdgeShard) -> T) -> Result<T, Refusal> {
        let shard = self.shard.read().unwrap_or_else(PoisonError::into_inner);
        shard.as_ref().map(work).ok_or_else(|| (StatusCode::NOT_FOUND, "Not found: Collection was deleted".to_owned()))
    }

    /// Ends the shard, after what is being done with it; its directory can be removed then.
    pub fn close(&self) {
        drop(self.shard.write().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// Returns what is told of a collection.
    pub fn info(&self) -> Answer {
        let info = self.with(EdgeShard::info)?;
        Ok(json!({
            "status": "green",
            "optimizer_status": "ok",
            "points_count": info.points_count,
            "indexed_vectors_count": info.indexed_vectors_count,
            "segments_count": info.segments_count,
            "config": {"params": {"vectors": {"size": self.size, "distance": "Cosine"}}},
        }))
    }

    /// Writes, and lets nothing be lost: the engine replays no log of its own.
    fn update(&self, operation: UpdateOperation) -> Answer {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let done = self.with(|shard| {
            let done = shard.update(operation);
            shard.flush();
            done
        })?;
        done.map_err(refusal)?;
        Ok(json!({"operation_id": 0, "status": "completed"}))
    }

    /// `PUT /collections/{name}/points`
    pub fn upsert(&self, body: Value) -> Answer {
        let operation: PointInsertOperations = parsed(body)?;
        // The engine would store the points before the one that it refuses.
        for point in operation.clone().into_point_vec() {
            match &point.vector {
                VectorStructPersisted::Single(vector) if vector.len() == self.size => {}
                VectorStructPersisted::Single(vector) => {
                    return Err(bad(format!("Vector dimension error: expected dim: {}, got {}", self.size, vector.len())));
                }
                _ => return Err(bad("Not existing vector name error")),
            }
        }
        self.update(UpdateOperation::PointOperation(PointOperations::UpsertPoints(operation)))
    }

    /// `POST /collections/{name}/points/delete`
    pub fn delete(&self, body: Value) -> Answer {
        let operation = match body.get("filter") {
            Some(filter) => PointOperations::DeletePointsByFilter(parsed(filter.clone())?),
            None => PointOperations::DeletePoints { ids: parsed::<PointIdsList>(body)?.points },
        };
        self.update(UpdateOperation::PointOperation(operation))
    }

    /// `PUT /collections/{name}/index`
    pub fn index(&self, body: Value) -> Answer {
        let index: CreateIndex = parsed(body)?;
        self.update(UpdateOperation::FieldIndexOperation(FieldIndexOperations::CreateIndex(index)))
    }

    /// `POST /collections/{name}/points/query`
    pub fn query(&self, body: Value) -> Answer {
        let query: Query = parsed(body)?;
        if query.query.len() != self.size {
            return Err(bad(format!("Vector dimension error: expected dim: {}, got {}", self.size, query.query.len())));
        }
        let limit = query.limit.unwrap_or(10);
        if limit == 0 {
            return Err(invalid("internal.limit: value 0 invalid, must be 1 or larger"));
        }
        let request = QueryRequest {
            prefetches: Vec::new(),
            query: Some(ScoringQuery::Vector(QueryEnum::Nearest(NamedQuery::default_dense(query.query)))),
            filter: query.filter,
            score_threshold: query.score_threshold.map(Into::into),
            limit,
            offset: 0,
            params: None,
            with_vector: WithVector::Bool(false),
            with_payload: query.with_payload.unwrap_or(WithPayloadInterface::Bool(false)),
        };
        let points = self.with(|shard| shard.query(request))?;
        Ok(json!({"points": points.map_err(refusal)?.iter().map(scored).collect::<Vec<_>>()}))
    }

    /// `POST /collections/{name}/points/scroll`
    pub fn scroll(&self, body: Value) -> Answer {
        if body.get("limit") == Some(&json!(0)) {
            return Err(invalid("limit: value 0 invalid, must be 1 or larger"));
        }
        let request = parsed::<ScrollRequest>(body)?;
        let (points, next) = self.with(|shard| shard.scroll(request))?.map_err(refusal)?;
        Ok(json!({"points": points.iter().map(record).collect::<Vec<_>>(), "next_page_offset": next}))
    }

    /// `POST /collections/{name}/points/count`
    pub fn count(&self, body: Value) -> Answer {
        let request = parsed::<CountRequest>(body)?;
        Ok(json!({"count": self.with(|shard| shard.count(request))?.map_err(refusal)?}))
    }

    /// `GET /collections/{name}/points/{id}`
    pub fn get(&self, id: &str) -> Answer {
        let id: PointId = parsed(id.parse::<u64>().map_or_else(|_| json!(id), |number| json!(number)))?;
        let all = (Some(WithPayloadInterface::Bool(true)), Some(WithVector::Bool(true)));
        let found = self.with(|shard| shard.retrieve(&[id], all.0, all.1))?.map_err(refusal)?;
        found.first().map(record).ok_or_else(|| (StatusCode::NOT_FOUND, format!("Not found: Point with id {id} does not exists!")))
    }
}

fn vector(vector: &VectorStructInternal) -> Value {
    let one = |vector: &VectorInternal| match vector {
        VectorInternal::Dense(dense) => json!(dense),
        VectorInternal::Sparse(sparse) => json!({"indices": sparse.indices, "values": sparse.values}),
        VectorInternal::MultiDense(many) => json!(many.clone().into_multi_vectors()),
    };
    match vector {
        VectorStructInternal::Single(dense) => json!(dense),
        VectorStructInternal::MultiDense(many) => json!(many.clone().into_multi_vectors()),
        VectorStructInternal::Named(named) => Value::Object(named.iter().map(|(name, v)| (name.to_string(), one(v))).collect()),
    }
}

fn record(record: &Record) -> Value {
    json!({"id": record.id, "payload": record.payload, "vector": record.vector.as_ref().map(vector)})
}

fn scored(point: &ScoredPoint) -> Value {
    json!({"id": point.id, "version": point.version, "score": point.score, "payload": point.payload})
}
