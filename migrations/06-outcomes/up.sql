-- What a page was called and recognised by, once for all rows that are about it. An empty text is unknown. Of the page under a
-- dialog only the structure is known.
CREATE TABLE pages (
    id            INTEGER PRIMARY KEY,
    uid           TEXT NOT NULL UNIQUE,
    origin        TEXT NOT NULL,
    app           TEXT NOT NULL,
    activity      TEXT NOT NULL,
    page_key      TEXT NOT NULL,
    fingerprint   TEXT NOT NULL,
    structure_key TEXT NOT NULL,
    title         TEXT,
    dialog        INTEGER NOT NULL DEFAULT 0 CHECK (dialog IN (0, 1)),
    updated_at    INTEGER NOT NULL,
    UNIQUE (structure_key, page_key, fingerprint, activity, app)
) STRICT;
CREATE INDEX pages_by_key ON pages (page_key);
CREATE INDEX pages_by_app ON pages (app);

INSERT INTO pages (uid, origin, app, activity, page_key, fingerprint, structure_key, updated_at)
SELECT lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-a'
        || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))),
    coalesce((SELECT origin FROM store), ''), app, activity, page_key, fingerprint, structure_key, 0
FROM (
    SELECT coalesce(app, '') AS app, coalesce(activity, '') AS activity, coalesce(page_key, '') AS page_key,
        coalesce(fingerprint, '') AS fingerprint, coalesce(structure_key, '') AS structure_key FROM events
    UNION SELECT coalesce(app, ''), coalesce(activity, ''), coalesce(page_key, ''), coalesce(fingerprint, ''),
        coalesce(structure_key, '') FROM intents
    UNION SELECT coalesce(app, ''), coalesce(activity, ''), coalesce(page_key, ''), coalesce(fingerprint, ''),
        coalesce(structure_key, '') FROM observations
    UNION SELECT coalesce(app, ''), '', '', '', below_key FROM observations WHERE below_key IS NOT NULL
) WHERE app || activity || page_key || structure_key <> '';
UPDATE pages SET (title, dialog) = (SELECT title, dialog FROM state_variants v WHERE v.key = pages.structure_key)
WHERE structure_key IN (SELECT key FROM state_variants);

ALTER TABLE observations ADD COLUMN page_id INTEGER REFERENCES pages (id);
ALTER TABLE observations ADD COLUMN below_id INTEGER REFERENCES pages (id);
UPDATE observations SET
    page_id = (SELECT id FROM pages p WHERE p.structure_key = coalesce(observations.structure_key, '')
        AND p.page_key = coalesce(observations.page_key, '') AND p.fingerprint = coalesce(observations.fingerprint, '')
        AND p.activity = coalesce(observations.activity, '') AND p.app = coalesce(observations.app, '')),
    below_id = (SELECT id FROM pages p WHERE p.structure_key = observations.below_key AND p.page_key = '' AND p.fingerprint = ''
        AND p.activity = '' AND p.app = coalesce(observations.app, ''));
ALTER TABLE observations DROP COLUMN app;
ALTER TABLE observations DROP COLUMN activity;
ALTER TABLE observations DROP COLUMN page_key;
ALTER TABLE observations DROP COLUMN fingerprint;
ALTER TABLE observations DROP COLUMN structure_key;
ALTER TABLE observations DROP COLUMN below_key;
CREATE INDEX observations_settled ON observations (device_id, seq) WHERE settled = 1 AND reliable = 1;

ALTER TABLE intents ADD COLUMN page_id INTEGER REFERENCES pages (id);
ALTER TABLE intents ADD COLUMN inherited INTEGER NOT NULL DEFAULT 0;
ALTER TABLE intents ADD COLUMN content_hash TEXT;
UPDATE intents SET page_id = (SELECT id FROM pages p WHERE p.structure_key = coalesce(intents.structure_key, '')
    AND p.page_key = coalesce(intents.page_key, '') AND p.fingerprint = coalesce(intents.fingerprint, '')
    AND p.activity = coalesce(intents.activity, '') AND p.app = coalesce(intents.app, ''));
ALTER TABLE intents DROP COLUMN app;
ALTER TABLE intents DROP COLUMN activity;
ALTER TABLE intents DROP COLUMN page_key;
ALTER TABLE intents DROP COLUMN fingerprint;
ALTER TABLE intents DROP COLUMN structure_key;

ALTER TABLE events ADD COLUMN page_id INTEGER REFERENCES pages (id);
-- Whether the page was seen for this event (0), is the one that the act before led to (1), or that act's own page (2), from
-- which nothing is learned.
ALTER TABLE events ADD COLUMN inherited INTEGER NOT NULL DEFAULT 0;
-- Content of the page before the event.
ALTER TABLE events ADD COLUMN content_hash TEXT;
-- What an act or recovery led to, as far as known: another page, the same page with other content, or no change at all.
ALTER TABLE events ADD COLUMN outcome TEXT CHECK (outcome IN ('page', 'same', 'nothing'));
ALTER TABLE events ADD COLUMN after_page_id INTEGER REFERENCES pages (id);
ALTER TABLE events ADD COLUMN after_below_id INTEGER REFERENCES pages (id);
-- From the beginning of the act until the page had settled.
ALTER TABLE events ADD COLUMN arrived_ms INTEGER;
-- Whether a check has confirmed, or refuted, what the act led to.
ALTER TABLE events ADD COLUMN verified INTEGER NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN refuted INTEGER NOT NULL DEFAULT 0;
-- Of a recovery: whether what had failed succeeded afterwards; NULL while undecided.
ALTER TABLE events ADD COLUMN cured INTEGER CHECK (cured IN (0, 1));
UPDATE events SET page_id = (SELECT id FROM pages p WHERE p.structure_key = coalesce(events.structure_key, '')
    AND p.page_key = coalesce(events.page_key, '') AND p.fingerprint = coalesce(events.fingerprint, '')
    AND p.activity = coalesce(events.activity, '') AND p.app = coalesce(events.app, ''));
ALTER TABLE events DROP COLUMN activity;
ALTER TABLE events DROP COLUMN page_key;
ALTER TABLE events DROP COLUMN fingerprint;
ALTER TABLE events DROP COLUMN structure_key;
ALTER TABLE events DROP COLUMN action_key;

-- Projections of events, observations and imported rows: they can be dropped and made again.
DROP TABLE transitions;
DROP TABLE moves;
DROP TABLE recoveries;

-- What was tried where. `from_key` is the structure of the page, else its page key, else its activity or app, each with a
-- prefix: a row belongs to the nearest that is known.
CREATE TABLE transitions (
    id              INTEGER PRIMARY KEY,
    uid             TEXT NOT NULL UNIQUE,
    origin          TEXT NOT NULL,
    from_key        TEXT NOT NULL,
    page_id         INTEGER NOT NULL REFERENCES pages (id),
    app             TEXT NOT NULL,
    activity        TEXT NOT NULL,
    action_key      TEXT NOT NULL,
    action          TEXT NOT NULL CHECK (json_valid(action)),
    -- Sums of its outcomes: changes, no change, confirmed ones, failures with refuted ones.
    success_count   INTEGER NOT NULL DEFAULT 0,
    nothing_count   INTEGER NOT NULL DEFAULT 0,
    verified_count  INTEGER NOT NULL DEFAULT 0,
    failure_count   INTEGER NOT NULL DEFAULT 0,
    failure_cause   TEXT,
    verify_op       TEXT,
    last_success_at INTEGER,
    last_at         INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    UNIQUE (from_key, action_key)
) STRICT;
CREATE INDEX transitions_by_page ON transitions (page_id);
CREATE INDEX transitions_by_activity ON transitions (activity, verified_count DESC, success_count DESC, failure_count, last_at DESC);
CREATE INDEX transitions_by_app ON transitions (app, verified_count DESC, success_count DESC, failure_count, last_at DESC);

-- How often it led where. A failure has its cause as `to_key`; a refuted outcome is counted beside what it led to.
CREATE TABLE outcomes (
    id             INTEGER PRIMARY KEY,
    uid            TEXT NOT NULL UNIQUE,
    origin         TEXT NOT NULL,
    transition_id  INTEGER NOT NULL REFERENCES transitions (id),
    kind           TEXT NOT NULL CHECK (kind IN ('page', 'same', 'nothing', 'failed', 'refuted')),
    to_key         TEXT NOT NULL,
    below_key      TEXT NOT NULL,
    page_id        INTEGER REFERENCES pages (id),
    count          INTEGER NOT NULL,
    verified_count INTEGER NOT NULL,
    -- The count with older ones weighing less, as it was at `weighted_at`.
    weight         REAL NOT NULL,
    weighted_at    INTEGER NOT NULL,
    -- Of all arrivals together.
    duration_ms    INTEGER NOT NULL,
    last_at        INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    UNIQUE (transition_id, kind, to_key, below_key)
) STRICT;
CREATE INDEX outcomes_by_page ON outcomes (page_id);

CREATE TABLE recoveries (
    id              INTEGER PRIMARY KEY,
    uid             TEXT NOT NULL UNIQUE,
    origin          TEXT NOT NULL,
    from_key        TEXT NOT NULL,
    page_id         INTEGER NOT NULL REFERENCES pages (id),
    app             TEXT NOT NULL,
    activity        TEXT NOT NULL,
    failure_cause   TEXT NOT NULL,
    action_key      TEXT NOT NULL,
    action          TEXT NOT NULL CHECK (json_valid(action)),
    -- How often what had failed succeeded afterwards, failed again, or neither; and how often the app was left.
    success_count   INTEGER NOT NULL DEFAULT 0,
    failure_count   INTEGER NOT NULL DEFAULT 0,
    undecided_count INTEGER NOT NULL DEFAULT 0,
    left_count      INTEGER NOT NULL DEFAULT 0,
    last_success_at INTEGER,
    last_at         INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    UNIQUE (from_key, failure_cause, action_key)
) STRICT;
CREATE INDEX recoveries_by_page ON recoveries (page_id);
CREATE INDEX recoveries_by_activity ON recoveries (activity, success_count DESC, failure_count, last_at DESC);
CREATE INDEX recoveries_by_app ON recoveries (app, success_count DESC, failure_count, last_at DESC);
CREATE INDEX recoveries_by_cause ON recoveries (failure_cause, success_count DESC, failure_count, last_at DESC);
CREATE INDEX events_uncured ON events (session_id, device_id, seq) WHERE category = 'recover' AND cured IS NULL;

-- How far the projections are made again after an upgrade: events up to `rebuild_upto`, by their sequence number. NULL when done.
ALTER TABLE store ADD COLUMN rebuild_cursor INTEGER;
ALTER TABLE store ADD COLUMN rebuild_upto INTEGER;
UPDATE store SET rebuild_cursor = -1, rebuild_upto = max((SELECT coalesce(max(seq), 0) FROM events),
    (SELECT coalesce(max(seq), 0) FROM observations));

-- Whether a structure is known to be its state, however it looks: the page was only scrolled.
ALTER TABLE state_variants ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1));
CREATE INDEX states_by_page ON states (app_id, place, title);
