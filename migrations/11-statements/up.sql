-- Schema 9 was once made with a full-text index of messages and without these tables: what is missing is made, and the messages of such a
-- database are indexed again.
UPDATE messages SET indexed = 0 WHERE EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'message_index');
DROP TABLE IF EXISTS message_index;
CREATE TABLE IF NOT EXISTS message_words (
    conversation_id INTEGER NOT NULL,
    word            INTEGER NOT NULL,
    position        INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, word, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS message_subjects (
    conversation_id INTEGER NOT NULL,
    hash            INTEGER NOT NULL,
    fact_id         INTEGER NOT NULL REFERENCES message_facts (id) ON DELETE CASCADE,
    PRIMARY KEY (conversation_id, hash, fact_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS message_subjects_by_fact ON message_subjects (fact_id);

-- What a statement of the user answers was once taken from any message before it. Only a question of the assistant may stand there.
UPDATE message_facts SET about = NULL WHERE about IS NOT NULL AND NOT EXISTS (SELECT 1 FROM messages m
    WHERE m.conversation_id = message_facts.conversation_id AND m.position = message_facts.position - 1 AND m.role = 'assistant');
