-- Counting the messages of a conversation reads this index only, instead of each message with its content.
CREATE INDEX messages_live ON messages (conversation_id, position) WHERE deleted_at IS NULL;
