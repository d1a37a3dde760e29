-- What pruned events and observations had contributed to experience: its counters begin with these rows when they are made again. `weight` is
-- that at `last_at`.
CREATE TABLE baseline_outcomes (
    id             INTEGER PRIMARY KEY,
    uid            TEXT NOT NULL UNIQUE,
    origin         TEXT NOT NULL,
    page_id        INTEGER NOT NULL REFERENCES pages (id),
    action         TEXT NOT NULL CHECK (json_valid(action)),
    kind           TEXT NOT NULL CHECK (kind IN ('page', 'same', 'nothing', 'failed', 'refuted')),
    to_page_id     INTEGER REFERENCES pages (id),
    below_page_id  INTEGER REFERENCES pages (id),
    cause          TEXT,
    verify_op      TEXT,
    count          INTEGER NOT NULL,
    verified_count INTEGER NOT NULL,
    weight         REAL NOT NULL,
    duration_ms    INTEGER NOT NULL,
    last_at        INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL
) STRICT;

CREATE TABLE baseline_recoveries (
    id              INTEGER PRIMARY KEY,
    uid             TEXT NOT NULL UNIQUE,
    origin          TEXT NOT NULL,
    page_id         INTEGER NOT NULL REFERENCES pages (id),
    failure_cause   TEXT NOT NULL,
    action          TEXT NOT NULL CHECK (json_valid(action)),
    success_count   INTEGER NOT NULL,
    failure_count   INTEGER NOT NULL,
    undecided_count INTEGER NOT NULL,
    left_count      INTEGER NOT NULL,
    last_success_at INTEGER,
    last_at         INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;

-- Up to which sequence number the events and observations of each store are in its baseline. Of two copies of a memory the one with the
-- higher number has more in its baseline, and all of what the other has.
CREATE TABLE folds (
    id                INTEGER PRIMARY KEY,
    uid               TEXT NOT NULL UNIQUE,
    origin            TEXT NOT NULL UNIQUE,
    events_upto       INTEGER NOT NULL,
    observations_upto INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL
) STRICT;

-- Whether it is in the baseline. Such rows stay only while others need them.
ALTER TABLE events ADD COLUMN folded INTEGER NOT NULL DEFAULT 0 CHECK (folded IN (0, 1));
ALTER TABLE observations ADD COLUMN folded INTEGER NOT NULL DEFAULT 0 CHECK (folded IN (0, 1));
CREATE INDEX events_folded ON events (device_id, seq) WHERE folded = 1;
CREATE INDEX observations_folded ON observations (device_id, seq) WHERE folded = 1;
