-- What a statement of the user answers was once taken from any message before it. Only a question of the assistant may stand there.
UPDATE message_facts SET about = NULL WHERE about IS NOT NULL AND NOT EXISTS (SELECT 1 FROM messages m
    WHERE m.conversation_id = message_facts.conversation_id AND m.position = message_facts.position - 1 AND m.role = 'assistant');
