-- A file of `memory import` that was checked and is being taken in, some records at a time.
CREATE TABLE imports (
    id INTEGER PRIMARY KEY,
    -- Name of the copy of the file in the directory of the database.
    file TEXT NOT NULL UNIQUE,
    -- Whether it may change sessions that were here before.
    merge INTEGER NOT NULL CHECK (merge IN (0, 1)),
    created_at INTEGER NOT NULL
) STRICT;

-- What an import takes from its file although something like it may be here: sessions and conversations by uid, baselines by origin. It goes on
-- by these after a stop, because by then it finds rows of its own.
CREATE TABLE import_choices (
    import_id INTEGER NOT NULL REFERENCES imports ON DELETE CASCADE,
    uid TEXT NOT NULL,
    PRIMARY KEY (import_id, uid)
) STRICT, WITHOUT ROWID;
