-- Times are UTC milliseconds. `uid` names a row in every copy of this memory, `origin` the store that made it.
-- `seq` is the order in which things happened on the devices; events, intents and observations share one counter.

CREATE TABLE store (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    origin     TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE devices (
    id         INTEGER PRIMARY KEY,
    uid        TEXT NOT NULL UNIQUE,
    origin     TEXT NOT NULL,
    name       TEXT NOT NULL UNIQUE,
    kind       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER
) STRICT;

CREATE TABLE sessions (
    id         INTEGER PRIMARY KEY,
    uid        TEXT NOT NULL UNIQUE,
    origin     TEXT NOT NULL,
    name       TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER
) STRICT;

CREATE TABLE observations (
    id               INTEGER PRIMARY KEY,
    uid              TEXT NOT NULL UNIQUE,
    origin           TEXT NOT NULL,
    seq              INTEGER NOT NULL,
    session_id       INTEGER NOT NULL REFERENCES sessions (id),
    device_id        INTEGER NOT NULL REFERENCES devices (id),
    trace_id         TEXT NOT NULL,
    source           TEXT NOT NULL,
    app              TEXT,
    activity         TEXT,
    page_key         TEXT,
    fingerprint      TEXT,
    content_hash     TEXT,
    settled          INTEGER NOT NULL CHECK (settled IN (0, 1)),
    reliable         INTEGER NOT NULL CHECK (reliable IN (0, 1)),
    reason           TEXT,
    mode             TEXT,
    has_web_view     INTEGER,
    node_reliability TEXT,
    node_count       INTEGER,
    ref_count        INTEGER,
    observed_at      INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    deleted_at       INTEGER
) STRICT;
CREATE INDEX observations_by_session ON observations (session_id, device_id, seq);
CREATE INDEX observations_by_seq ON observations (seq);

CREATE TABLE session_state (
    session_id         INTEGER NOT NULL REFERENCES sessions (id),
    device_id          INTEGER NOT NULL REFERENCES devices (id),
    uid                TEXT NOT NULL UNIQUE,
    origin             TEXT NOT NULL,
    observation_uid    TEXT NOT NULL,
    app                TEXT,
    activity           TEXT,
    page_key           TEXT,
    fingerprint        TEXT,
    fingerprint_source TEXT,
    mode               TEXT,
    has_web_view       INTEGER,
    node_reliability   TEXT,
    stale              INTEGER NOT NULL DEFAULT 0 CHECK (stale IN (0, 1)),
    observed_at        INTEGER NOT NULL,
    updated_at         INTEGER NOT NULL,
    PRIMARY KEY (session_id, device_id)
) STRICT;
CREATE INDEX session_state_by_device ON session_state (device_id);

-- An intent is committed before its action is sent and goes with the commit of its event.
CREATE TABLE intents (
    id          INTEGER PRIMARY KEY,
    uid         TEXT NOT NULL UNIQUE,
    origin      TEXT NOT NULL,
    seq         INTEGER NOT NULL,
    session_id  INTEGER NOT NULL REFERENCES sessions (id),
    device_id   INTEGER NOT NULL REFERENCES devices (id),
    trace_id    TEXT NOT NULL,
    request_key TEXT,
    request_hash TEXT,
    category    TEXT NOT NULL,
    op          TEXT NOT NULL,
    action      TEXT NOT NULL,
    before_uid  TEXT,
    app         TEXT,
    activity    TEXT,
    page_key    TEXT,
    fingerprint TEXT,
    parent_uid  TEXT,
    started_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX intents_by_device ON intents (device_id, seq);

CREATE TABLE events (
    id            INTEGER PRIMARY KEY,
    uid           TEXT NOT NULL UNIQUE,
    origin        TEXT NOT NULL,
    seq           INTEGER NOT NULL,
    session_id    INTEGER NOT NULL REFERENCES sessions (id),
    device_id     INTEGER NOT NULL REFERENCES devices (id),
    trace_id      TEXT NOT NULL,
    request_key   TEXT,
    request_hash  TEXT,
    category      TEXT NOT NULL CHECK (category IN ('act', 'verify', 'recover')),
    op            TEXT NOT NULL,
    status        TEXT NOT NULL CHECK (status IN ('ok', 'failed', 'unknown')),
    -- Whether the device was reached: what was refused before it changed nothing on the screen.
    sent          INTEGER NOT NULL CHECK (sent IN (0, 1)),
    action        TEXT,
    action_key    TEXT,
    failure_cause TEXT,
    error         TEXT,
    result        TEXT,
    evidence      TEXT,
    duration_ms   INTEGER NOT NULL,
    before_uid    TEXT,
    app           TEXT,
    activity      TEXT,
    page_key      TEXT,
    fingerprint   TEXT,
    -- The settled observation that closed an act or a recovery.
    after_uid     TEXT,
    -- The act that a verify judged, or the failure that a recovery answers.
    parent_uid    TEXT,
    at            INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    deleted_at    INTEGER
) STRICT;
CREATE INDEX events_by_seq ON events (seq);
CREATE INDEX events_done ON events (device_id, seq) WHERE category <> 'verify';
CREATE INDEX events_typed ON events (seq) WHERE op = 'text';
CREATE INDEX events_by_session ON events (session_id, seq);
CREATE INDEX events_by_app ON events (app, seq);
CREATE INDEX events_by_parent ON events (parent_uid) WHERE parent_uid IS NOT NULL;
CREATE UNIQUE INDEX events_by_request ON events (session_id, device_id, request_key) WHERE request_key IS NOT NULL;

-- Projections of events and observations: they can be dropped and made again.
CREATE TABLE transitions (
    id               INTEGER PRIMARY KEY,
    uid              TEXT NOT NULL UNIQUE,
    origin           TEXT NOT NULL,
    app              TEXT NOT NULL,
    activity         TEXT NOT NULL,
    page_key         TEXT NOT NULL,
    fingerprint      TEXT NOT NULL,
    action_key       TEXT NOT NULL,
    action           TEXT NOT NULL CHECK (json_valid(action)),
    post_activity    TEXT,
    post_page_key    TEXT,
    post_fingerprint TEXT,
    verify_op        TEXT,
    success_count    INTEGER NOT NULL DEFAULT 0,
    verified_count   INTEGER NOT NULL DEFAULT 0,
    failure_count    INTEGER NOT NULL DEFAULT 0,
    failure_cause    TEXT,
    last_success_at  INTEGER,
    last_at          INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    UNIQUE (page_key, action_key)
) STRICT;
CREATE INDEX transitions_by_page ON transitions (page_key, verified_count DESC, success_count DESC, failure_count, last_at DESC);
CREATE INDEX transitions_by_activity ON transitions (activity, verified_count DESC, success_count DESC, failure_count, last_at DESC);
CREATE INDEX transitions_by_app ON transitions (app, verified_count DESC, success_count DESC, failure_count, last_at DESC);

CREATE TABLE recoveries (
    id              INTEGER PRIMARY KEY,
    uid             TEXT NOT NULL UNIQUE,
    origin          TEXT NOT NULL,
    app             TEXT NOT NULL,
    activity        TEXT NOT NULL,
    page_key        TEXT NOT NULL,
    fingerprint     TEXT NOT NULL,
    failure_cause   TEXT NOT NULL,
    action_key      TEXT NOT NULL,
    action          TEXT NOT NULL CHECK (json_valid(action)),
    success_count   INTEGER NOT NULL DEFAULT 0,
    failure_count   INTEGER NOT NULL DEFAULT 0,
    last_success_at INTEGER,
    last_at         INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    UNIQUE (page_key, failure_cause, action_key)
) STRICT;
CREATE INDEX recoveries_by_page ON recoveries (page_key, success_count DESC, failure_count, last_at DESC);
CREATE INDEX recoveries_by_activity ON recoveries (activity, success_count DESC, failure_count, last_at DESC);
CREATE INDEX recoveries_by_app ON recoveries (app, success_count DESC, failure_count, last_at DESC);
CREATE INDEX recoveries_by_cause ON recoveries (failure_cause, success_count DESC, failure_count, last_at DESC);
