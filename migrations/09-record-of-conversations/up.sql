-- A session can hold several conversations; the one of before becomes "main", with the id of its session.
CREATE TABLE conversations_new (
    id            INTEGER PRIMARY KEY,
    session_id    INTEGER NOT NULL REFERENCES sessions (id),
    name          TEXT NOT NULL,
    uid           TEXT NOT NULL UNIQUE,
    origin        TEXT NOT NULL,
    -- Model whose tokens are counted; NULL for that of the settings.
    model         TEXT,
    max_tokens    INTEGER,
    -- Names of context keys beside those of the settings.
    tracked       TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(tracked)),
    -- Values of context keys, each with the time it was set.
    context       TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(context)),
    -- Lines of the rolling summary.
    rolling       TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(rolling)),
    -- Last message, and last turn.
    position      INTEGER NOT NULL DEFAULT 0,
    turn          INTEGER NOT NULL DEFAULT 0,
    cleared_to    INTEGER NOT NULL DEFAULT 0,
    -- Last message that was taken out of the context by request, and last message that a summary represents.
    dropped_to    INTEGER NOT NULL DEFAULT 0,
    compacted_to  INTEGER NOT NULL DEFAULT 0,
    -- Tokens of all messages, the same with each message cut to its brief length, and tokens since the last compaction.
    tokens        INTEGER NOT NULL DEFAULT 0,
    brief_tokens  INTEGER NOT NULL DEFAULT 0,
    used_tokens   INTEGER NOT NULL DEFAULT 0,
    updated_at    INTEGER NOT NULL,
    UNIQUE (session_id, name)
) STRICT;
INSERT INTO conversations_new (id, session_id, name, uid, origin, model, max_tokens, tracked, context, rolling, position, turn,
    cleared_to, compacted_to, tokens, used_tokens, updated_at)
SELECT session_id, session_id, 'main', uid, origin, model, max_tokens, tracked, context, rolling, position, turn,
    cleared_to, compacted_to, tokens, used_tokens, updated_at FROM conversations;
DROP TABLE conversations;
ALTER TABLE conversations_new RENAME TO conversations;

CREATE TABLE messages_new (
    id              INTEGER PRIMARY KEY,
    uid             TEXT NOT NULL UNIQUE,
    origin          TEXT NOT NULL,
    conversation_id INTEGER NOT NULL REFERENCES conversations (id),
    position        INTEGER NOT NULL,
    turn            INTEGER NOT NULL,
    role            TEXT NOT NULL CHECK (role IN ('system', 'user', 'assistant', 'tool')),
    -- A text, or a list of parts.
    content         TEXT NOT NULL CHECK (json_valid(content)),
    tool_calls      TEXT CHECK (tool_calls IS NULL OR json_valid(tool_calls)),
    tool_call_id    TEXT,
    name            TEXT,
    -- Fields of the client's message that mean nothing here.
    extra           TEXT CHECK (extra IS NULL OR json_valid(extra)),
    -- Whether it says that the call of a tool failed.
    failed          INTEGER NOT NULL DEFAULT 0 CHECK (failed IN (0, 1)),
    tokens          INTEGER NOT NULL,
    -- Tokens of all messages up to and with this one; the same with each message cut to its brief length.
    running         INTEGER NOT NULL,
    brief_running   INTEGER NOT NULL,
    -- What counted them.
    tokenizer       TEXT NOT NULL,
    -- Whether its facts and its search entry have been written.
    indexed         INTEGER NOT NULL DEFAULT 0 CHECK (indexed IN (0, 1)),
    at              INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    deleted_at      INTEGER,
    UNIQUE (conversation_id, position)
) STRICT;
INSERT INTO messages_new (id, uid, origin, conversation_id, position, turn, role, content, tool_calls, tool_call_id, name, failed, tokens,
    running, brief_running, tokenizer, at, updated_at, deleted_at)
SELECT id, uid, origin, session_id, position, turn, role, content, tool_calls, tool_call_id, name, failed, tokens, running,
    sum(min(tokens, CASE role WHEN 'tool' THEN 240 WHEN 'assistant' THEN 480 ELSE 960 END)) OVER (PARTITION BY session_id ORDER BY position),
    tokenizer, at, updated_at, deleted_at FROM messages;
DROP TABLE messages;
ALTER TABLE messages_new RENAME TO messages;
CREATE INDEX messages_by_role ON messages (conversation_id, role, position);
CREATE INDEX messages_by_running ON messages (conversation_id, running);
CREATE INDEX messages_by_brief ON messages (conversation_id, brief_running);
CREATE INDEX messages_unindexed ON messages (id) WHERE indexed = 0;
UPDATE conversations SET brief_tokens = coalesce((SELECT max(brief_running) FROM messages WHERE conversation_id = conversations.id), 0);

-- Which messages have which words: by a hash of the word without its ending.
CREATE TABLE message_words (
    conversation_id INTEGER NOT NULL,
    word            INTEGER NOT NULL,
    position        INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, word, position)
) STRICT, WITHOUT ROWID;

-- Statements taken from messages. They are derived: those of before are taken again, with what is known about them now.
DROP TABLE message_facts;
CREATE TABLE message_facts (
    id              INTEGER PRIMARY KEY,
    uid             TEXT NOT NULL UNIQUE,
    origin          TEXT NOT NULL,
    conversation_id INTEGER NOT NULL REFERENCES conversations (id),
    position        INTEGER NOT NULL,
    -- Order within the message.
    place           INTEGER NOT NULL,
    role            TEXT NOT NULL,
    -- Tool that said it.
    source          TEXT,
    kind            TEXT NOT NULL CHECK (kind IN ('rule', 'decision', 'statement')),
    text            TEXT NOT NULL,
    -- The sentence before it, without which a short answer or correction means nothing.
    about           TEXT,
    -- What it replaces.
    was             TEXT,
    tokens          INTEGER NOT NULL,
    score           REAL NOT NULL,
    -- The score among the sentences of its template that were there before: by this the best ones are read.
    rank            REAL NOT NULL,
    -- Hashes of the sentence, and of it without its figures.
    sentence        INTEGER NOT NULL,
    template        INTEGER NOT NULL,
    -- Position of the message that replaced it.
    superseded_by   INTEGER,
    at              INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX message_facts_once ON message_facts (conversation_id, sentence);
CREATE INDEX message_facts_places ON message_facts (conversation_id, position);
CREATE INDEX message_facts_best ON message_facts (conversation_id, role, rank DESC, position) WHERE superseded_by IS NULL;

-- What the statements of users that can be replaced are about: hashes of the words apart from figures.
CREATE TABLE message_subjects (
    conversation_id INTEGER NOT NULL,
    hash            INTEGER NOT NULL,
    fact_id         INTEGER NOT NULL REFERENCES message_facts (id) ON DELETE CASCADE,
    PRIMARY KEY (conversation_id, hash, fact_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_subjects_by_fact ON message_subjects (fact_id);

DROP TABLE message_terms;
CREATE TABLE message_terms (
    conversation_id INTEGER NOT NULL,
    hash            INTEGER NOT NULL,
    seen            INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE summaries_new (
    id              INTEGER PRIMARY KEY,
    uid             TEXT NOT NULL UNIQUE,
    origin          TEXT NOT NULL,
    conversation_id INTEGER NOT NULL REFERENCES conversations (id),
    -- After this message, up to and with that one.
    after           INTEGER NOT NULL,
    upto            INTEGER NOT NULL,
    text            TEXT NOT NULL,
    method          TEXT NOT NULL CHECK (method IN ('extractive', 'model')),
    model           TEXT,
    tokens          INTEGER NOT NULL,
    -- When a language model is to be asked for a better one; NULL when not, or no longer.
    due_at          INTEGER,
    attempts        INTEGER NOT NULL DEFAULT 0,
    error           TEXT,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;
INSERT INTO summaries_new SELECT id, uid, origin, session_id, after, upto, text, method, model, tokens, due_at, attempts, error, created_at,
    updated_at FROM summaries;
DROP TABLE summaries;
ALTER TABLE summaries_new RENAME TO summaries;
CREATE INDEX summaries_by_conversation ON summaries (conversation_id, upto, id);
CREATE INDEX summaries_due ON summaries (due_at) WHERE due_at IS NOT NULL;

-- Lists of one page, and of the strongest patterns.
CREATE INDEX bugs_by_page ON bugs (page, id) WHERE page IS NOT NULL;
CREATE INDEX test_results_by_page ON test_results (page, id) WHERE page IS NOT NULL;
CREATE INDEX patterns_by_confidence ON patterns (confidence DESC, id) WHERE deleted_at IS NULL;
