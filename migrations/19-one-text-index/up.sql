-- One index for the text of all entries: SQLite's FTS5 over tokens that the daemon makes. The tokens of an entry are kept, because FTS5 must be given
-- the same ones again to remove an entry. `secure-delete` takes the words of a deleted entry out of the index at once.
CREATE TABLE entry_texts (
    entry_id INTEGER PRIMARY KEY,
    tokens   TEXT NOT NULL
) STRICT;
CREATE VIRTUAL TABLE text_index USING fts5 (tokens, content = 'entry_texts', content_rowid = 'entry_id', tokenize = 'ascii', columnsize = 0);
INSERT INTO text_index (text_index, rank) VALUES ('secure-delete', 1);
-- The words of the index, each with the number of entries that contain it.
CREATE VIRTUAL TABLE text_words USING fts5vocab (text_index, row);
DROP TABLE entry_terms;
DROP TABLE message_words;
DROP TABLE note_index;

-- Messages are entries too. The table is made anew, because a check on a column cannot be changed.
CREATE TABLE former_entries AS SELECT * FROM entries;
DROP TABLE entries;
CREATE TABLE entries (
    id          INTEGER PRIMARY KEY,
    uid         TEXT NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('note', 'bug', 'result', 'page', 'pattern', 'session', 'state', 'memory', 'message')),
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
    -- Conversation of a message, its position there, and who said it.
    thread      INTEGER,
    position    INTEGER,
    role        TEXT,
    -- Hash of what is searched, and number of its tokens.
    content     INTEGER NOT NULL DEFAULT 0,
    words       INTEGER NOT NULL DEFAULT 0,
    -- Hash of what it says, apart from case, space and punctuation.
    gist        INTEGER NOT NULL DEFAULT 0,
    by_user     INTEGER NOT NULL DEFAULT 0 CHECK (by_user IN (0, 1)),
    -- How often it was handed over because somebody searched for it, and when last.
    use_count   INTEGER NOT NULL DEFAULT 0,
    used_at     INTEGER,
    archived_at INTEGER,
    UNIQUE (kind, row_id)
) STRICT;
INSERT INTO entries (id, uid, kind, row_id, due, gone, version, app, site, session_id, private, type, confidence, at, expires_at, content, words,
        gist, by_user, use_count, used_at, archived_at)
    SELECT id, uid, kind, row_id, due, gone, version, app, site, session_id, private, type, confidence, at, expires_at, content, words,
        gist, by_user, use_count, used_at, archived_at FROM former_entries;
DROP TABLE former_entries;
CREATE INDEX entries_due ON entries (id) WHERE due = 1;
CREATE INDEX entries_by_version ON entries (version);
CREATE INDEX entries_by_uid ON entries (uid);
CREATE INDEX entries_by_gist ON entries (kind, gist) WHERE gone = 0;
CREATE INDEX entries_by_session ON entries (session_id) WHERE gone = 0;

CREATE TRIGGER messages_recalled AFTER INSERT ON messages BEGIN
    INSERT INTO entries (uid, kind, row_id, gone) VALUES (NEW.uid, 'message', NEW.id, NEW.deleted_at IS NOT NULL)
        ON CONFLICT (kind, row_id) DO UPDATE SET uid = excluded.uid, due = 1, gone = excluded.gone;
END;
CREATE TRIGGER messages_recalled_again AFTER UPDATE OF uid, content, name, conversation_id, deleted_at ON messages BEGIN
    UPDATE entries SET uid = NEW.uid, due = 1, gone = NEW.deleted_at IS NOT NULL WHERE kind = 'message' AND row_id = NEW.id;
END;
CREATE TRIGGER messages_forgotten AFTER DELETE ON messages BEGIN
    UPDATE entries SET due = 1, gone = 1 WHERE kind = 'message' AND row_id = OLD.id;
END;
INSERT INTO entries (uid, kind, row_id, gone) SELECT uid, 'message', id, deleted_at IS NOT NULL FROM messages;

-- All entries are indexed again, in the background.
UPDATE entries SET due = 1 WHERE gone = 0;
