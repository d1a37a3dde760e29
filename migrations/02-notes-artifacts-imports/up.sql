-- Notes are appended to a chain by app and topic and never changed; `position` is never given twice in a chain, so that
-- the order stays when one goes. A deleted note keeps its row, without its content.
CREATE TABLE notes (
    id         INTEGER PRIMARY KEY,
    uid        TEXT NOT NULL UNIQUE,
    origin     TEXT NOT NULL,
    -- The empty app is that of notes about no app in particular.
    app        TEXT NOT NULL,
    topic      TEXT NOT NULL,
    position   INTEGER NOT NULL,
    content    TEXT NOT NULL,
    session_id INTEGER NOT NULL REFERENCES sessions (id),
    trace_id   TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    UNIQUE (app, topic, origin, position)
) STRICT;
CREATE INDEX notes_by_time ON notes (created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX notes_by_app ON notes (app, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX notes_by_topic ON notes (topic, created_at) WHERE deleted_at IS NULL;

-- What notes are found by: tokens as `text` in the daemon cuts and marks them.
CREATE VIRTUAL TABLE note_index USING fts5 (tokens, content = '', contentless_delete = 1, tokenize = 'ascii');

-- Files that were written for somebody. Several rows may share a file whose content is the same.
CREATE TABLE artifacts (
    id           INTEGER PRIMARY KEY,
    uid          TEXT NOT NULL UNIQUE,
    origin       TEXT NOT NULL,
    session_id   INTEGER NOT NULL REFERENCES sessions (id),
    device_id    INTEGER REFERENCES devices (id),
    trace_id     TEXT NOT NULL,
    op           TEXT NOT NULL,
    kind         TEXT NOT NULL,
    mime_type    TEXT NOT NULL,
    file_path    TEXT NOT NULL,
    size_bytes   INTEGER NOT NULL,
    content_hash TEXT NOT NULL,
    -- Whether the file lies in our own directory, where the limits of size and age hold.
    managed      INTEGER NOT NULL CHECK (managed IN (0, 1)),
    -- Since when the file is not there, or holds something else.
    missing_at   INTEGER,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    deleted_at   INTEGER
) STRICT;
CREATE INDEX artifacts_by_session ON artifacts (session_id, id);
CREATE INDEX artifacts_by_kind ON artifacts (kind, id);
CREATE INDEX artifacts_by_path ON artifacts (file_path) WHERE deleted_at IS NULL;
CREATE INDEX artifacts_by_hash ON artifacts (content_hash) WHERE deleted_at IS NULL;

-- What another tool's memory knew. Transitions and recoveries are projections of events and of these.
CREATE TABLE imported_transitions (
    id               INTEGER PRIMARY KEY,
    uid              TEXT NOT NULL UNIQUE,
    origin           TEXT NOT NULL,
    source           TEXT NOT NULL,
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
    success_count    INTEGER NOT NULL,
    verified_count   INTEGER NOT NULL,
    failure_count    INTEGER NOT NULL,
    last_success_at  INTEGER,
    last_at          INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL
) STRICT;

CREATE TABLE imported_recoveries (
    id              INTEGER PRIMARY KEY,
    uid             TEXT NOT NULL UNIQUE,
    origin          TEXT NOT NULL,
    source          TEXT NOT NULL,
    app             TEXT NOT NULL,
    activity        TEXT NOT NULL,
    page_key        TEXT NOT NULL,
    fingerprint     TEXT NOT NULL,
    failure_cause   TEXT NOT NULL,
    action_key      TEXT NOT NULL,
    action          TEXT NOT NULL CHECK (json_valid(action)),
    success_count   INTEGER NOT NULL,
    failure_count   INTEGER NOT NULL,
    last_success_at INTEGER,
    last_at         INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;
