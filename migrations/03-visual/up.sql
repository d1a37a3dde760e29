-- What the page was, as states are recognised by it; `below` is the page under a dialog.
ALTER TABLE observations ADD COLUMN structure_key TEXT;
ALTER TABLE observations ADD COLUMN below_key TEXT;
ALTER TABLE intents ADD COLUMN structure_key TEXT;
ALTER TABLE events ADD COLUMN structure_key TEXT;

-- A projection of events and observations: what led from one structure to another. It knows nothing of states, so that a
-- state that is learned, merged or restored later has its edges at once. An empty `to_key` is a failure.
CREATE TABLE moves (
    id             INTEGER PRIMARY KEY,
    uid            TEXT NOT NULL UNIQUE,
    origin         TEXT NOT NULL,
    from_key       TEXT NOT NULL,
    from_app       TEXT NOT NULL,
    action_key     TEXT NOT NULL,
    action         TEXT NOT NULL CHECK (json_valid(action)),
    to_key         TEXT NOT NULL,
    to_app         TEXT NOT NULL,
    below_key      TEXT NOT NULL,
    success_count  INTEGER NOT NULL DEFAULT 0,
    failure_count  INTEGER NOT NULL DEFAULT 0,
    -- The same counts with older ones weighing less, as they were at `weighted_at`.
    success_weight REAL NOT NULL DEFAULT 0,
    failure_weight REAL NOT NULL DEFAULT 0,
    weighted_at    INTEGER NOT NULL,
    duration_ms    INTEGER NOT NULL DEFAULT 0,
    last_at        INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    UNIQUE (from_key, action_key, to_key, below_key)
) STRICT;
CREATE INDEX moves_by_app ON moves (from_app);
CREATE INDEX moves_to_app ON moves (to_app);

-- A memory of an app, or of a site in a browser. Members of its file that we have no column for are in `extra`.
CREATE TABLE apps (
    id               INTEGER PRIMARY KEY,
    uid              TEXT NOT NULL UNIQUE,
    origin           TEXT NOT NULL,
    app              TEXT NOT NULL,
    -- Empty for the app itself.
    site             TEXT NOT NULL,
    -- The hosts that were seen of a site, as a list.
    hosts            TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(hosts)),
    learn_count      INTEGER NOT NULL DEFAULT 0,
    forget_threshold INTEGER NOT NULL DEFAULT 15,
    -- Looks of a detector at no page in particular.
    detector_looks   INTEGER NOT NULL DEFAULT 0,
    image_width      INTEGER,
    image_height     INTEGER,
    extra            TEXT CHECK (extra IS NULL OR json_valid(extra)),
    learned_at       INTEGER,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    deleted_at       INTEGER,
    UNIQUE (app, site)
) STRICT;

-- What can be seen. How often and when follows from the pages that it belongs to (`state_components`) and from what it
-- came with (`base_*`), so that looking at a page where nothing changed writes none of this.
CREATE TABLE components (
    id             INTEGER PRIMARY KEY,
    uid            TEXT NOT NULL UNIQUE,
    origin         TEXT NOT NULL,
    app_id         INTEGER NOT NULL REFERENCES apps (id),
    position       INTEGER NOT NULL,
    -- What makes it the same component.
    key            TEXT NOT NULL,
    name           TEXT NOT NULL,
    kind           TEXT NOT NULL,
    source         TEXT NOT NULL,
    label          TEXT,
    -- Whether what it says changes by itself.
    dynamic        INTEGER NOT NULL DEFAULT 0 CHECK (dynamic IN (0, 1)),
    -- Whether it moves in and out of view with what it lies in.
    scrolls        INTEGER NOT NULL DEFAULT 0 CHECK (scrolls IN (0, 1)),
    res_id         TEXT,
    class          TEXT,
    -- Where it was seen last, pixels of the device.
    bounds_left    INTEGER,
    bounds_top     INTEGER,
    bounds_right   INTEGER,
    bounds_bottom  INTEGER,
    confidence     REAL,
    -- The name of the page that it was learned on.
    page           TEXT,
    crop           TEXT,
    base_seen      INTEGER NOT NULL DEFAULT 0,
    base_last_seen INTEGER,
    -- Whether it belongs to no page that is known and can be missed at any look of a detector: as often in a row as there
    -- were such looks since `loose_since`.
    loose          INTEGER NOT NULL DEFAULT 0 CHECK (loose IN (0, 1)),
    loose_since    INTEGER NOT NULL DEFAULT 0,
    learned_at     INTEGER NOT NULL,
    extra          TEXT CHECK (extra IS NULL OR json_valid(extra)),
    updated_at     INTEGER NOT NULL,
    deleted_at     INTEGER
) STRICT;
CREATE UNIQUE INDEX components_by_key ON components (app_id, key) WHERE deleted_at IS NULL;
CREATE INDEX components_by_app ON components (app_id, position);
CREATE INDEX components_loose ON components (app_id, loose_since) WHERE loose = 1 AND deleted_at IS NULL;
CREATE UNIQUE INDEX components_by_name ON components (app_id, name) WHERE deleted_at IS NULL;

-- A page, a dialog, or a set of detections that stands for one. Without a code it was seen once and is not defined yet.
CREATE TABLE states (
    id            INTEGER PRIMARY KEY,
    uid           TEXT NOT NULL UNIQUE,
    origin        TEXT NOT NULL,
    app_id        INTEGER NOT NULL REFERENCES apps (id),
    position      INTEGER NOT NULL,
    code          TEXT,
    name          TEXT,
    description   TEXT,
    kind          TEXT NOT NULL CHECK (kind IN ('page', 'dialog', 'detected', 'opaque')),
    place         TEXT NOT NULL,
    title         TEXT,
    visit_count   INTEGER NOT NULL DEFAULT 0,
    visible_texts TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(visible_texts)),
    first_seen    INTEGER NOT NULL,
    last_seen     INTEGER NOT NULL,
    extra         TEXT CHECK (extra IS NULL OR json_valid(extra)),
    updated_at    INTEGER NOT NULL,
    deleted_at    INTEGER
) STRICT;
CREATE UNIQUE INDEX states_by_code ON states (app_id, code) WHERE deleted_at IS NULL;
CREATE INDEX states_by_app ON states (app_id, position);

-- Which components a state has. Seen = visits of the state since `from_visit`, less `missed`.
CREATE TABLE state_components (
    state_id     INTEGER NOT NULL REFERENCES states (id),
    component_id INTEGER NOT NULL REFERENCES components (id),
    -- Whether it belongs to the set that defines the state.
    defining     INTEGER NOT NULL CHECK (defining IN (0, 1)),
    from_visit   INTEGER NOT NULL,
    missed       INTEGER NOT NULL DEFAULT 0,
    -- Missed so often in a row.
    misses       INTEGER NOT NULL DEFAULT 0,
    -- When it was seen last, where that is not when the state was.
    seen_before  INTEGER,
    PRIMARY KEY (state_id, component_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX state_components_by_component ON state_components (component_id);
CREATE INDEX state_components_missed ON state_components (misses) WHERE misses > 0;

-- The structures that are this state: the one that named it, and those that were taken for it.
CREATE TABLE state_variants (
    key        TEXT PRIMARY KEY,
    origin     TEXT NOT NULL,
    app_id     INTEGER NOT NULL REFERENCES apps (id),
    state_id   INTEGER NOT NULL REFERENCES states (id),
    place      TEXT NOT NULL,
    title      TEXT,
    dialog     INTEGER NOT NULL CHECK (dialog IN (0, 1)),
    -- Sorted hashes, eight bytes each, little end first.
    features   BLOB NOT NULL,
    defines    INTEGER NOT NULL CHECK (defines IN (0, 1)),
    seen       INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX state_variants_by_app ON state_variants (app_id);
CREATE INDEX state_variants_by_state ON state_variants (state_id);

-- Edges that came with an imported memory: facts about its states, which no event of ours tells.
CREATE TABLE imported_edges (
    id            INTEGER PRIMARY KEY,
    uid           TEXT NOT NULL UNIQUE,
    origin        TEXT NOT NULL,
    app_id        INTEGER NOT NULL REFERENCES apps (id),
    position      INTEGER NOT NULL,
    from_state    INTEGER NOT NULL REFERENCES states (id),
    action        TEXT NOT NULL,
    to_state      INTEGER NOT NULL REFERENCES states (id),
    count         INTEGER NOT NULL,
    success_rate  REAL NOT NULL,
    last_used     INTEGER,
    extra         TEXT CHECK (extra IS NULL OR json_valid(extra)),
    updated_at    INTEGER NOT NULL,
    UNIQUE (from_state, action, to_state)
) STRICT;
CREATE INDEX imported_edges_by_app ON imported_edges (app_id, position);
CREATE INDEX imported_edges_to ON imported_edges (to_state);

-- What was forgotten, merged, renamed or deleted, why, and all that it takes to undo it.
CREATE TABLE visual_history (
    id         INTEGER PRIMARY KEY,
    uid        TEXT NOT NULL UNIQUE,
    origin     TEXT NOT NULL,
    app_id     INTEGER NOT NULL REFERENCES apps (id),
    op         TEXT NOT NULL,
    what       TEXT NOT NULL,
    why        TEXT NOT NULL,
    undo       TEXT NOT NULL CHECK (json_valid(undo)),
    undone_at  INTEGER,
    at         INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX visual_history_by_app ON visual_history (app_id, id);
