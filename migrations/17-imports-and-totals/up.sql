-- An accepted file of `memory.import` that is being applied in short writes.
CREATE TABLE imports (
    id INTEGER PRIMARY KEY,
    -- Name of the copy of the file in the directory of the database.
    file TEXT NOT NULL UNIQUE,
    -- Whether it may change sessions that were here before.
    merge INTEGER NOT NULL CHECK (merge IN (0, 1)),
    created_at INTEGER NOT NULL
) STRICT;

-- Sessions and conversations (uid) and baselines (origin) that an import takes from its file. A resumed import needs these, because the database by
-- then contains rows of the earlier run.
CREATE TABLE import_choices (
    import_id INTEGER NOT NULL REFERENCES imports ON DELETE CASCADE,
    uid TEXT NOT NULL,
    PRIMARY KEY (import_id, uid)
) STRICT, WITHOUT ROWID;

-- Counters per session, kept by the triggers below. `memory::sessions` reads them instead of all events and observations.
CREATE TABLE session_totals (
    session_id INTEGER PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
    done INTEGER NOT NULL DEFAULT 0,
    passed_checks INTEGER NOT NULL DEFAULT 0,
    failed_checks INTEGER NOT NULL DEFAULT 0,
    errors INTEGER NOT NULL DEFAULT 0,
    observations INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE session_pages (
    session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    page_id INTEGER NOT NULL REFERENCES pages ON DELETE CASCADE,
    observations INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    -- The newest observation.
    last_seq INTEGER NOT NULL,
    last_id INTEGER NOT NULL,
    PRIMARY KEY (session_id, page_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_pages_by_page ON session_pages (page_id);

CREATE TRIGGER events_counted AFTER INSERT ON events WHEN NEW.deleted_at IS NULL BEGIN
    INSERT INTO session_totals (session_id, done, passed_checks, failed_checks, errors)
    VALUES (NEW.session_id, NEW.status = 'ok' AND NEW.category <> 'verify', NEW.status = 'ok' AND NEW.category = 'verify',
        coalesce(NEW.failure_cause, '') = 'ASSERTION_FAILED', NEW.status <> 'ok' AND coalesce(NEW.failure_cause, '') <> 'ASSERTION_FAILED')
    ON CONFLICT (session_id) DO UPDATE SET done = done + excluded.done, passed_checks = passed_checks + excluded.passed_checks,
        failed_checks = failed_checks + excluded.failed_checks, errors = errors + excluded.errors;
END;
CREATE TRIGGER events_uncounted AFTER DELETE ON events WHEN OLD.deleted_at IS NULL BEGIN
    UPDATE session_totals SET done = done - (OLD.status = 'ok' AND OLD.category <> 'verify'),
        passed_checks = passed_checks - (OLD.status = 'ok' AND OLD.category = 'verify'),
        failed_checks = failed_checks - (coalesce(OLD.failure_cause, '') = 'ASSERTION_FAILED'),
        errors = errors - (OLD.status <> 'ok' AND coalesce(OLD.failure_cause, '') <> 'ASSERTION_FAILED')
    WHERE session_id = OLD.session_id;
END;
CREATE TRIGGER events_counted_again AFTER UPDATE OF session_id, status, category, failure_cause, deleted_at ON events BEGIN
    UPDATE session_totals SET done = done - (OLD.status = 'ok' AND OLD.category <> 'verify'),
        passed_checks = passed_checks - (OLD.status = 'ok' AND OLD.category = 'verify'),
        failed_checks = failed_checks - (coalesce(OLD.failure_cause, '') = 'ASSERTION_FAILED'),
        errors = errors - (OLD.status <> 'ok' AND coalesce(OLD.failure_cause, '') <> 'ASSERTION_FAILED')
    WHERE session_id = OLD.session_id AND OLD.deleted_at IS NULL;
    INSERT INTO session_totals (session_id, done, passed_checks, failed_checks, errors)
    SELECT NEW.session_id, NEW.status = 'ok' AND NEW.category <> 'verify', NEW.status = 'ok' AND NEW.category = 'verify',
        coalesce(NEW.failure_cause, '') = 'ASSERTION_FAILED', NEW.status <> 'ok' AND coalesce(NEW.failure_cause, '') <> 'ASSERTION_FAILED'
    WHERE NEW.deleted_at IS NULL
    ON CONFLICT (session_id) DO UPDATE SET done = done + excluded.done, passed_checks = passed_checks + excluded.passed_checks,
        failed_checks = failed_checks + excluded.failed_checks, errors = errors + excluded.errors;
END;

CREATE TRIGGER observations_counted AFTER INSERT ON observations BEGIN
    INSERT INTO session_totals (session_id, observations) VALUES (NEW.session_id, 1)
    ON CONFLICT (session_id) DO UPDATE SET observations = observations + 1;
    INSERT INTO session_pages (session_id, page_id, observations, first_at, last_seq, last_id)
    SELECT NEW.session_id, NEW.page_id, 1, NEW.observed_at, NEW.seq, NEW.id WHERE NEW.page_id IS NOT NULL
    ON CONFLICT (session_id, page_id) DO UPDATE SET observations = observations + 1, first_at = min(first_at, excluded.first_at),
        last_id = CASE WHEN excluded.last_seq > last_seq THEN excluded.last_id ELSE last_id END, last_seq = max(last_seq, excluded.last_seq);
END;
CREATE TRIGGER observations_uncounted AFTER DELETE ON observations BEGIN
    UPDATE session_totals SET observations = observations - 1 WHERE session_id = OLD.session_id;
    UPDATE session_pages SET observations = observations - 1 WHERE session_id = OLD.session_id AND page_id = OLD.page_id;
    DELETE FROM session_pages WHERE session_id = OLD.session_id AND page_id = OLD.page_id AND (observations <= 0 OR last_id = OLD.id)
        AND NOT EXISTS (SELECT 1 FROM observations o WHERE o.session_id = session_pages.session_id AND o.page_id = session_pages.page_id);
    UPDATE session_pages SET (last_seq, last_id) = (SELECT o.seq, o.id FROM observations o
        WHERE o.session_id = session_pages.session_id AND o.page_id = session_pages.page_id ORDER BY o.seq DESC LIMIT 1)
    WHERE session_id = OLD.session_id AND page_id = OLD.page_id AND last_id = OLD.id;
END;
CREATE TRIGGER observations_counted_again AFTER UPDATE OF session_id, page_id, seq ON observations BEGIN
    UPDATE session_totals SET observations = observations - 1 WHERE session_id = OLD.session_id;
    UPDATE session_pages SET observations = observations - 1 WHERE session_id = OLD.session_id AND page_id = OLD.page_id;
    DELETE FROM session_pages WHERE session_id = OLD.session_id AND page_id = OLD.page_id AND (observations <= 0 OR last_id = OLD.id)
        AND NOT EXISTS (SELECT 1 FROM observations o WHERE o.session_id = session_pages.session_id AND o.page_id = session_pages.page_id);
    UPDATE session_pages SET (last_seq, last_id) = (SELECT o.seq, o.id FROM observations o
        WHERE o.session_id = session_pages.session_id AND o.page_id = session_pages.page_id ORDER BY o.seq DESC LIMIT 1)
    WHERE session_id = OLD.session_id AND page_id = OLD.page_id AND last_id = OLD.id;
    INSERT INTO session_totals (session_id, observations) VALUES (NEW.session_id, 1)
    ON CONFLICT (session_id) DO UPDATE SET observations = observations + 1;
    INSERT INTO session_pages (session_id, page_id, observations, first_at, last_seq, last_id)
    SELECT NEW.session_id, NEW.page_id, 1, NEW.observed_at, NEW.seq, NEW.id WHERE NEW.page_id IS NOT NULL
    ON CONFLICT (session_id, page_id) DO UPDATE SET observations = observations + 1, first_at = min(first_at, excluded.first_at),
        last_id = CASE WHEN excluded.last_seq > last_seq THEN excluded.last_id ELSE last_id END, last_seq = max(last_seq, excluded.last_seq);
END;

INSERT INTO session_totals (session_id, done, passed_checks, failed_checks, errors)
SELECT session_id, sum(status = 'ok' AND category <> 'verify'), sum(status = 'ok' AND category = 'verify'),
    sum(coalesce(failure_cause, '') = 'ASSERTION_FAILED'), sum(status <> 'ok' AND coalesce(failure_cause, '') <> 'ASSERTION_FAILED')
FROM events WHERE deleted_at IS NULL GROUP BY session_id;
INSERT INTO session_totals (session_id, observations) SELECT session_id, count(*) FROM observations WHERE true GROUP BY session_id
ON CONFLICT (session_id) DO UPDATE SET observations = excluded.observations;
INSERT INTO session_pages (session_id, page_id, observations, first_at, last_seq, last_id)
SELECT session_id, page_id, count(*), min(observed_at), max(seq), id FROM observations WHERE page_id IS NOT NULL GROUP BY session_id, page_id;

-- Whether anything was, or may have been, uploaded. Only then does a deletion name this Qdrant as still holding data.
ALTER TABLE outboxes ADD COLUMN reached INTEGER NOT NULL DEFAULT 0 CHECK (reached IN (0, 1));
UPDATE outboxes SET reached = position > 0 OR round > 1;
