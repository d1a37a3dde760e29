-- What a session is for, and what its agent wants to be told when it goes on. Figures follow from what was recorded.
ALTER TABLE sessions ADD COLUMN goal TEXT;
ALTER TABLE sessions ADD COLUMN app TEXT;
-- The working directory whose git state belongs to the progress.
ALTER TABLE sessions ADD COLUMN directory TEXT;
-- Where progress files go when they are written on every change; none when they are not.
ALTER TABLE sessions ADD COLUMN progress_dir TEXT;
ALTER TABLE sessions ADD COLUMN next_steps TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(next_steps));
ALTER TABLE sessions ADD COLUMN blockers TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(blockers));
-- The summary that was written when it ended.
ALTER TABLE sessions ADD COLUMN summary TEXT;
ALTER TABLE sessions ADD COLUMN started_at INTEGER;
ALTER TABLE sessions ADD COLUMN ended_at INTEGER;
CREATE INDEX sessions_by_app ON sessions (app);

CREATE TABLE tasks (
    id          INTEGER PRIMARY KEY,
    uid         TEXT NOT NULL UNIQUE,
    origin      TEXT NOT NULL,
    session_id  INTEGER NOT NULL REFERENCES sessions (id),
    description TEXT NOT NULL,
    status      TEXT NOT NULL CHECK (status IN ('pending', 'active', 'passed', 'failed', 'skipped')),
    priority    INTEGER NOT NULL,
    -- Tasks that come first, by uid.
    blocked_by  TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(blocked_by)),
    progress    TEXT,
    summary     TEXT,
    created_at  INTEGER NOT NULL,
    started_at  INTEGER,
    finished_at INTEGER,
    updated_at  INTEGER NOT NULL,
    deleted_at  INTEGER
) STRICT;
CREATE INDEX tasks_by_session ON tasks (session_id, status, priority DESC, id);
CREATE UNIQUE INDEX tasks_active ON tasks (session_id) WHERE status = 'active';

CREATE TABLE bugs (
    id          INTEGER PRIMARY KEY,
    uid         TEXT NOT NULL UNIQUE,
    origin      TEXT NOT NULL,
    session_id  INTEGER NOT NULL REFERENCES sessions (id),
    task_uid    TEXT,
    title       TEXT NOT NULL,
    severity    TEXT NOT NULL CHECK (severity IN ('critical', 'high', 'medium', 'low')),
    description TEXT,
    steps       TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(steps)),
    expected    TEXT,
    actual      TEXT,
    app         TEXT,
    page        TEXT,
    state       TEXT,
    -- Uid of the artifact.
    screenshot  TEXT,
    status      TEXT NOT NULL CHECK (status IN ('open', 'resolved')),
    resolution  TEXT,
    created_at  INTEGER NOT NULL,
    resolved_at INTEGER,
    updated_at  INTEGER NOT NULL,
    deleted_at  INTEGER
) STRICT;
CREATE INDEX bugs_by_session ON bugs (session_id, id);
CREATE INDEX bugs_by_severity ON bugs (severity, id);
CREATE INDEX bugs_by_status ON bugs (status, id);
CREATE INDEX bugs_by_app ON bugs (app, status, id);

CREATE TABLE test_results (
    id          INTEGER PRIMARY KEY,
    uid         TEXT NOT NULL UNIQUE,
    origin      TEXT NOT NULL,
    session_id  INTEGER NOT NULL REFERENCES sessions (id),
    task_uid    TEXT,
    name        TEXT NOT NULL,
    status      TEXT NOT NULL CHECK (status IN ('passed', 'failed', 'skipped', 'error')),
    app         TEXT,
    page        TEXT,
    state       TEXT,
    duration_ms INTEGER,
    summary     TEXT,
    -- Uid of the artifact that shows it.
    evidence    TEXT,
    bug_uid     TEXT,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    deleted_at  INTEGER
) STRICT;
CREATE INDEX test_results_by_session ON test_results (session_id, id);
CREATE INDEX test_results_by_status ON test_results (status, id);

-- Elements that were marked as tested. An element that the visual memory knows is named by its component's uid.
CREATE TABLE tested_elements (
    id         INTEGER PRIMARY KEY,
    uid        TEXT NOT NULL UNIQUE,
    origin     TEXT NOT NULL,
    session_id INTEGER NOT NULL REFERENCES sessions (id),
    app        TEXT NOT NULL,
    page       TEXT NOT NULL,
    state      TEXT,
    element    TEXT NOT NULL,
    component  TEXT,
    passed     INTEGER NOT NULL DEFAULT 0,
    failed     INTEGER NOT NULL DEFAULT 0,
    times      INTEGER NOT NULL DEFAULT 1,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (session_id, app, page, element)
) STRICT;

-- What an agent works with: how much of its conversation is in its context, and what it need not be told again.
CREATE TABLE conversations (
    session_id    INTEGER PRIMARY KEY REFERENCES sessions (id),
    uid           TEXT NOT NULL UNIQUE,
    origin        TEXT NOT NULL,
    -- Whose tokens are counted; none for that of the settings.
    model         TEXT,
    max_tokens    INTEGER,
    -- Names of context keys beside those of the settings.
    tracked       TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(tracked)),
    -- Values of context keys, each with when and how it came to be known.
    context       TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(context)),
    -- The lines of the rolling summary, with the turn of each.
    rolling       TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(rolling)),
    -- The last message, and the last of those that are no longer in the context.
    position      INTEGER NOT NULL DEFAULT 0,
    turn          INTEGER NOT NULL DEFAULT 0,
    cleared_to    INTEGER NOT NULL DEFAULT 0,
    compacted_to  INTEGER NOT NULL DEFAULT 0,
    -- Tokens of all messages so far, and of those that are in the context.
    tokens        INTEGER NOT NULL DEFAULT 0,
    used_tokens   INTEGER NOT NULL DEFAULT 0,
    updated_at    INTEGER NOT NULL
) STRICT;

CREATE TABLE messages (
    id           INTEGER PRIMARY KEY,
    uid          TEXT NOT NULL UNIQUE,
    origin       TEXT NOT NULL,
    session_id   INTEGER NOT NULL REFERENCES sessions (id),
    position     INTEGER NOT NULL,
    turn         INTEGER NOT NULL,
    role         TEXT NOT NULL CHECK (role IN ('system', 'user', 'assistant', 'tool')),
    -- A text, or a list of parts.
    content      TEXT NOT NULL CHECK (json_valid(content)),
    tool_calls   TEXT CHECK (tool_calls IS NULL OR json_valid(tool_calls)),
    tool_call_id TEXT,
    name         TEXT,
    -- Whether it says that the call of a tool failed.
    failed       INTEGER NOT NULL DEFAULT 0 CHECK (failed IN (0, 1)),
    tokens       INTEGER NOT NULL,
    -- Tokens of all messages up to and with this one.
    running      INTEGER NOT NULL,
    -- What counted them.
    tokenizer    TEXT NOT NULL,
    at           INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    deleted_at   INTEGER,
    UNIQUE (session_id, position)
) STRICT;
CREATE INDEX messages_by_role ON messages (session_id, role, position);
CREATE INDEX messages_by_running ON messages (session_id, running);

-- Sentences worth keeping, with what each is worth by itself.
CREATE TABLE message_facts (
    id         INTEGER PRIMARY KEY,
    uid        TEXT NOT NULL UNIQUE,
    origin     TEXT NOT NULL,
    session_id INTEGER NOT NULL REFERENCES sessions (id),
    position   INTEGER NOT NULL,
    role       TEXT NOT NULL,
    text       TEXT NOT NULL,
    tokens     INTEGER NOT NULL,
    score      REAL NOT NULL,
    -- The same among the sentences of its make that were there before: by this the best ones are read.
    rank       REAL NOT NULL,
    -- Hashes of the sentence, and of it without its figures.
    sentence   INTEGER NOT NULL,
    template   INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX message_facts_once ON message_facts (session_id, sentence);
CREATE INDEX message_facts_places ON message_facts (session_id, position);
CREATE INDEX message_facts_best ON message_facts (session_id, role, rank DESC, position);

-- How often a session said what: `hash` is that of a word, or of a sentence without its figures.
CREATE TABLE message_terms (
    session_id INTEGER NOT NULL,
    hash       INTEGER NOT NULL,
    seen       INTEGER NOT NULL,
    PRIMARY KEY (session_id, hash)
) STRICT, WITHOUT ROWID;

-- What was said up to a message, in short.
CREATE TABLE summaries (
    id           INTEGER PRIMARY KEY,
    uid          TEXT NOT NULL UNIQUE,
    origin       TEXT NOT NULL,
    session_id   INTEGER NOT NULL REFERENCES sessions (id),
    -- After this message, up to and with that one.
    after        INTEGER NOT NULL,
    upto         INTEGER NOT NULL,
    text         TEXT NOT NULL,
    method       TEXT NOT NULL CHECK (method IN ('extractive', 'model')),
    model        TEXT,
    tokens       INTEGER NOT NULL,
    -- When a language model is to be asked for a better one; none when not, or no longer.
    due_at       INTEGER,
    attempts     INTEGER NOT NULL DEFAULT 0,
    error        TEXT,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL
) STRICT;
CREATE INDEX summaries_by_session ON summaries (session_id, upto, id);
CREATE INDEX summaries_due ON summaries (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE patterns (
    id            INTEGER PRIMARY KEY,
    uid           TEXT NOT NULL UNIQUE,
    origin        TEXT NOT NULL,
    session_id    INTEGER REFERENCES sessions (id),
    kind          TEXT NOT NULL,
    text          TEXT NOT NULL,
    app           TEXT NOT NULL,
    -- The normalised page that it is about; empty for none.
    page          TEXT NOT NULL,
    data          TEXT CHECK (data IS NULL OR json_valid(data)),
    -- What it was believed at first, and what use made of that.
    prior         REAL NOT NULL,
    confidence    REAL NOT NULL,
    success_count INTEGER NOT NULL DEFAULT 0,
    failure_count INTEGER NOT NULL DEFAULT 0,
    usage_count   INTEGER NOT NULL DEFAULT 0,
    last_used_at  INTEGER,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    deleted_at    INTEGER
) STRICT;
CREATE UNIQUE INDEX patterns_once ON patterns (kind, app, page, text) WHERE deleted_at IS NULL;
CREATE INDEX patterns_by_page ON patterns (page, confidence DESC) WHERE deleted_at IS NULL;
CREATE INDEX patterns_by_app ON patterns (app, confidence DESC) WHERE deleted_at IS NULL;
CREATE INDEX patterns_by_kind ON patterns (kind, confidence DESC) WHERE deleted_at IS NULL;
CREATE INDEX patterns_by_session ON patterns (session_id, id) WHERE deleted_at IS NULL;

CREATE TABLE page_models (
    id              INTEGER PRIMARY KEY,
    uid             TEXT NOT NULL UNIQUE,
    origin          TEXT NOT NULL,
    app             TEXT NOT NULL,
    page            TEXT NOT NULL,
    page_type       TEXT NOT NULL,
    elements        TEXT NOT NULL CHECK (json_valid(elements)),
    stability_score REAL NOT NULL,
    seen_count      INTEGER NOT NULL DEFAULT 1,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    deleted_at      INTEGER
) STRICT;
CREATE UNIQUE INDEX page_models_once ON page_models (app, page) WHERE deleted_at IS NULL;

CREATE INDEX notes_by_session ON notes (session_id) WHERE deleted_at IS NULL;
CREATE INDEX observations_of_session ON observations (session_id, seq);

-- What a bug, a result or a message shows stays, whatever the limits of size and age say.
ALTER TABLE artifacts ADD COLUMN kept INTEGER NOT NULL DEFAULT 0 CHECK (kept IN (0, 1));
