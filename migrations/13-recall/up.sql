-- What callers stored by `recall.store`. Other entries stand for rows of other tables.
CREATE TABLE memories (
    id         INTEGER PRIMARY KEY,
    uid        TEXT NOT NULL UNIQUE,
    origin     TEXT NOT NULL,
    session_id INTEGER NOT NULL REFERENCES sessions (id),
    kind       TEXT NOT NULL CHECK (kind IN ('fact', 'preference', 'procedure')),
    title      TEXT,
    text       TEXT NOT NULL,
    app        TEXT NOT NULL DEFAULT '',
    site       TEXT NOT NULL DEFAULT '',
    scope      TEXT NOT NULL CHECK (scope IN ('session', 'app', 'everybody')),
    -- Who said it: 'user', 'assistant', 'page', or the name of a tool.
    source     TEXT NOT NULL,
    confidence REAL NOT NULL,
    tags       TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(tags)),
    -- Uids of other entries.
    related    TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(related)),
    expires_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER
) STRICT;
CREATE INDEX memories_by_session ON memories (session_id, substr(text, 1, 64)) WHERE deleted_at IS NULL;

-- What can be recalled: an entry for each row that is worth finding again. Entries have no content of their own: that is read from the row.
-- They are derived, and are made by the triggers below and by the daemon, which derives the rest of those that are due in the same
-- transaction. `version` grows with each change, so that indexes elsewhere know what they have missed.
CREATE TABLE entries (
    id          INTEGER PRIMARY KEY,
    uid         TEXT NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('note', 'bug', 'result', 'page', 'pattern', 'session', 'state', 'memory')),
    row_id      INTEGER NOT NULL,
    due         INTEGER NOT NULL DEFAULT 1 CHECK (due IN (0, 1)),
    -- Whether its row is deleted.
    gone        INTEGER NOT NULL DEFAULT 0 CHECK (gone IN (0, 1)),
    version     INTEGER NOT NULL DEFAULT 0,
    app         TEXT NOT NULL DEFAULT '',
    site        TEXT NOT NULL DEFAULT '',
    session_id  INTEGER,
    -- Whether only its session may be told.
    private     INTEGER NOT NULL DEFAULT 0 CHECK (private IN (0, 1)),
    type        TEXT NOT NULL DEFAULT '',
    confidence  REAL NOT NULL DEFAULT 0.5,
    at          INTEGER NOT NULL DEFAULT 0,
    expires_at  INTEGER,
    -- Hash of what is searched, number of its words, and the keys of its terms.
    content     INTEGER NOT NULL DEFAULT 0,
    words       INTEGER NOT NULL DEFAULT 0,
    -- Hash of what it says, apart from case, space and punctuation.
    gist        INTEGER NOT NULL DEFAULT 0,
    terms       BLOB NOT NULL DEFAULT x'',
    -- How often it was handed over because somebody searched for it, and when last.
    use_count   INTEGER NOT NULL DEFAULT 0,
    used_at     INTEGER,
    archived_at INTEGER,
    UNIQUE (kind, row_id)
) STRICT;
CREATE INDEX entries_due ON entries (id) WHERE due = 1;
CREATE INDEX entries_by_version ON entries (version);
CREATE INDEX entries_by_uid ON entries (uid);
CREATE INDEX entries_by_gist ON entries (kind, gist) WHERE gone = 0;
CREATE INDEX entries_by_session ON entries (session_id) WHERE gone = 0;

-- Which entries have which terms, by a hash of the term, and how often.
CREATE TABLE entry_terms (
    term     INTEGER NOT NULL,
    entry_id INTEGER NOT NULL,
    count    INTEGER NOT NULL,
    PRIMARY KEY (term, entry_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE entry_tags (
    tag      TEXT NOT NULL,
    entry_id INTEGER NOT NULL,
    PRIMARY KEY (tag, entry_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX entry_tags_by_entry ON entry_tags (entry_id);

-- Models that embeddings were made with. The first is built in.
CREATE TABLE embedding_models (
    id         INTEGER PRIMARY KEY,
    -- Kind, name and hash of what defines it: another one makes other vectors.
    identity   TEXT NOT NULL UNIQUE,
    dimensions INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- Vectors of unit length, as little-endian 32-bit floats, of the content that had this hash. One that went stale is empty, and is made again
-- when its entry is used.
CREATE TABLE embeddings (
    id         INTEGER PRIMARY KEY,
    model_id   INTEGER NOT NULL REFERENCES embedding_models (id),
    entry_id   INTEGER NOT NULL,
    content    INTEGER NOT NULL,
    vector     BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (entry_id, model_id)
) STRICT;
CREATE INDEX embeddings_by_model ON embeddings (model_id, entry_id);

-- The signs of the same vectors, one bit each: small enough to be kept in memory.
CREATE TABLE sketches (
    model_id INTEGER NOT NULL,
    entry_id INTEGER NOT NULL,
    bits     BLOB NOT NULL,
    PRIMARY KEY (model_id, entry_id)
) STRICT, WITHOUT ROWID;

-- What the upkeep of the entries changed, a row for each run that changed something.
CREATE TABLE upkeep_log (
    id      INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    changes TEXT NOT NULL CHECK (json_valid(changes))
) STRICT;

CREATE TRIGGER notes_recalled AFTER INSERT ON notes BEGIN
    INSERT INTO entries (uid, kind, row_id, gone) VALUES (NEW.uid, 'note', NEW.id, NEW.deleted_at IS NOT NULL)
        ON CONFLICT (kind, row_id) DO UPDATE SET uid = excluded.uid, due = 1, gone = excluded.gone;
END;
CREATE TRIGGER notes_recalled_again AFTER UPDATE OF uid, content, app, topic, deleted_at ON notes BEGIN
    UPDATE entries SET uid = NEW.uid, due = 1, gone = NEW.deleted_at IS NOT NULL WHERE kind = 'note' AND row_id = NEW.id;
END;
CREATE TRIGGER notes_forgotten AFTER DELETE ON notes BEGIN
    UPDATE entries SET due = 1, gone = 1 WHERE kind = 'note' AND row_id = OLD.id;
END;
INSERT INTO entries (uid, kind, row_id, gone) SELECT uid, 'note', id, deleted_at IS NOT NULL FROM notes;
CREATE TRIGGER bugs_recalled AFTER INSERT ON bugs BEGIN
    INSERT INTO entries (uid, kind, row_id, gone) VALUES (NEW.uid, 'bug', NEW.id, NEW.deleted_at IS NOT NULL)
        ON CONFLICT (kind, row_id) DO UPDATE SET uid = excluded.uid, due = 1, gone = excluded.gone;
END;
CREATE TRIGGER bugs_recalled_again AFTER UPDATE OF uid, title, description, steps, expected, actual, app, page, status, resolution, deleted_at ON bugs BEGIN
    UPDATE entries SET uid = NEW.uid, due = 1, gone = NEW.deleted_at IS NOT NULL WHERE kind = 'bug' AND row_id = NEW.id;
END;
CREATE TRIGGER bugs_forgotten AFTER DELETE ON bugs BEGIN
    UPDATE entries SET due = 1, gone = 1 WHERE kind = 'bug' AND row_id = OLD.id;
END;
INSERT INTO entries (uid, kind, row_id, gone) SELECT uid, 'bug', id, deleted_at IS NOT NULL FROM bugs;
CREATE TRIGGER test_results_recalled AFTER INSERT ON test_results BEGIN
    INSERT INTO entries (uid, kind, row_id, gone) VALUES (NEW.uid, 'result', NEW.id, NEW.deleted_at IS NOT NULL)
        ON CONFLICT (kind, row_id) DO UPDATE SET uid = excluded.uid, due = 1, gone = excluded.gone;
END;
CREATE TRIGGER test_results_recalled_again AFTER UPDATE OF uid, name, status, app, page, summary, deleted_at ON test_results BEGIN
    UPDATE entries SET uid = NEW.uid, due = 1, gone = NEW.deleted_at IS NOT NULL WHERE kind = 'result' AND row_id = NEW.id;
END;
CREATE TRIGGER test_results_forgotten AFTER DELETE ON test_results BEGIN
    UPDATE entries SET due = 1, gone = 1 WHERE kind = 'result' AND row_id = OLD.id;
END;
INSERT INTO entries (uid, kind, row_id, gone) SELECT uid, 'result', id, deleted_at IS NOT NULL FROM test_results;
CREATE TRIGGER page_models_recalled AFTER INSERT ON page_models BEGIN
    INSERT INTO entries (uid, kind, row_id, gone) VALUES (NEW.uid, 'page', NEW.id, NEW.deleted_at IS NOT NULL)
        ON CONFLICT (kind, row_id) DO UPDATE SET uid = excluded.uid, due = 1, gone = excluded.gone;
END;
CREATE TRIGGER page_models_recalled_again AFTER UPDATE OF uid, page_type, elements, app, page, deleted_at ON page_models BEGIN
    UPDATE entries SET uid = NEW.uid, due = 1, gone = NEW.deleted_at IS NOT NULL WHERE kind = 'page' AND row_id = NEW.id;
END;
CREATE TRIGGER page_models_forgotten AFTER DELETE ON page_models BEGIN
    UPDATE entries SET due = 1, gone = 1 WHERE kind = 'page' AND row_id = OLD.id;
END;
INSERT INTO entries (uid, kind, row_id, gone) SELECT uid, 'page', id, deleted_at IS NOT NULL FROM page_models;
CREATE TRIGGER patterns_recalled AFTER INSERT ON patterns BEGIN
    INSERT INTO entries (uid, kind, row_id, gone) VALUES (NEW.uid, 'pattern', NEW.id, NEW.deleted_at IS NOT NULL)
        ON CONFLICT (kind, row_id) DO UPDATE SET uid = excluded.uid, due = 1, gone = excluded.gone;
END;
CREATE TRIGGER patterns_recalled_again AFTER UPDATE OF uid, text, app, page, scope, confidence, deleted_at ON patterns BEGIN
    UPDATE entries SET uid = NEW.uid, due = 1, gone = NEW.deleted_at IS NOT NULL WHERE kind = 'pattern' AND row_id = NEW.id;
END;
CREATE TRIGGER patterns_forgotten AFTER DELETE ON patterns BEGIN
    UPDATE entries SET due = 1, gone = 1 WHERE kind = 'pattern' AND row_id = OLD.id;
END;
INSERT INTO entries (uid, kind, row_id, gone) SELECT uid, 'pattern', id, deleted_at IS NOT NULL FROM patterns;
CREATE TRIGGER sessions_recalled AFTER INSERT ON sessions BEGIN
    INSERT INTO entries (uid, kind, row_id, gone) VALUES (NEW.uid, 'session', NEW.id, NEW.deleted_at IS NOT NULL)
        ON CONFLICT (kind, row_id) DO UPDATE SET uid = excluded.uid, due = 1, gone = excluded.gone;
END;
CREATE TRIGGER sessions_recalled_again AFTER UPDATE OF uid, name, goal, app, summary, next_steps, blockers, ended_at, deleted_at ON sessions BEGIN
    UPDATE entries SET uid = NEW.uid, due = 1, gone = NEW.deleted_at IS NOT NULL WHERE kind = 'session' AND row_id = NEW.id;
END;
CREATE TRIGGER sessions_forgotten AFTER DELETE ON sessions BEGIN
    UPDATE entries SET due = 1, gone = 1 WHERE kind = 'session' AND row_id = OLD.id;
END;
INSERT INTO entries (uid, kind, row_id, gone) SELECT uid, 'session', id, deleted_at IS NOT NULL FROM sessions;
CREATE TRIGGER states_recalled AFTER INSERT ON states BEGIN
    INSERT INTO entries (uid, kind, row_id, gone) VALUES (NEW.uid, 'state', NEW.id, NEW.deleted_at IS NOT NULL)
        ON CONFLICT (kind, row_id) DO UPDATE SET uid = excluded.uid, due = 1, gone = excluded.gone;
END;
CREATE TRIGGER states_recalled_again AFTER UPDATE OF uid, name, description, title, deleted_at ON states BEGIN
    UPDATE entries SET uid = NEW.uid, due = 1, gone = NEW.deleted_at IS NOT NULL WHERE kind = 'state' AND row_id = NEW.id;
END;
CREATE TRIGGER states_forgotten AFTER DELETE ON states BEGIN
    UPDATE entries SET due = 1, gone = 1 WHERE kind = 'state' AND row_id = OLD.id;
END;
INSERT INTO entries (uid, kind, row_id, gone) SELECT uid, 'state', id, deleted_at IS NOT NULL FROM states;
CREATE TRIGGER memories_recalled AFTER INSERT ON memories BEGIN
    INSERT INTO entries (uid, kind, row_id, gone) VALUES (NEW.uid, 'memory', NEW.id, NEW.deleted_at IS NOT NULL)
        ON CONFLICT (kind, row_id) DO UPDATE SET uid = excluded.uid, due = 1, gone = excluded.gone;
END;
CREATE TRIGGER memories_recalled_again AFTER UPDATE OF uid, title, text, app, site, scope, source, confidence, tags, expires_at, deleted_at ON memories BEGIN
    UPDATE entries SET uid = NEW.uid, due = 1, gone = NEW.deleted_at IS NOT NULL WHERE kind = 'memory' AND row_id = NEW.id;
END;
CREATE TRIGGER memories_forgotten AFTER DELETE ON memories BEGIN
    UPDATE entries SET due = 1, gone = 1 WHERE kind = 'memory' AND row_id = OLD.id;
END;
INSERT INTO entries (uid, kind, row_id, gone) SELECT uid, 'memory', id, deleted_at IS NOT NULL FROM memories;
