-- How far an index outside of this database has followed the versions of the entries: what changed after `position` is still to be sent.
CREATE TABLE outboxes (
    id         INTEGER PRIMARY KEY,
    url        TEXT NOT NULL,
    collection TEXT NOT NULL,
    -- Store in whose name the points were put there: a restored backup is another one.
    origin     TEXT NOT NULL,
    position   INTEGER NOT NULL DEFAULT 0,
    -- While another collection is in use: version up to which what changed was deleted here. It is sent everything again when it is used again.
    forgotten  INTEGER NOT NULL DEFAULT 0,
    -- Number of the round in which everything is sent; when it is through, points of earlier rounds are deleted there.
    round      INTEGER NOT NULL DEFAULT 1,
    -- Whether the round is through.
    whole      INTEGER NOT NULL DEFAULT 0 CHECK (whole IN (0, 1)),
    updated_at INTEGER NOT NULL,
    UNIQUE (url, collection, origin)
) STRICT;

-- What the stores had as their origin that this one replaced when it was restored: their points elsewhere are to be deleted.
CREATE TABLE former_origins (
    origin     TEXT PRIMARY KEY,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
