-- Calls that write and carried a request key: what came of them, so that the same call is not done twice. Acts keep their keys in
-- their events. Rows go after a day.
CREATE TABLE requests (
    id           INTEGER PRIMARY KEY,
    uid          TEXT NOT NULL UNIQUE,
    origin       TEXT NOT NULL,
    method       TEXT NOT NULL,
    request_key  TEXT NOT NULL,
    request_hash TEXT NOT NULL,
    -- NULL until it is done, or when it was too large to be kept.
    result       TEXT,
    done         INTEGER NOT NULL DEFAULT 0,
    begun_at     INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    UNIQUE (method, request_key)
) STRICT;

CREATE INDEX requests_by_time ON requests (begun_at);
