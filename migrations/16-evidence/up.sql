-- How often a statement held and failed when it was used, as of its last use: what is older counts less.
ALTER TABLE patterns ADD COLUMN held REAL NOT NULL DEFAULT 0;
ALTER TABLE patterns ADD COLUMN failed REAL NOT NULL DEFAULT 0;
UPDATE patterns SET held = success_count, failed = failure_count;
ALTER TABLE memories ADD COLUMN prior REAL NOT NULL DEFAULT 0.7;
ALTER TABLE memories ADD COLUMN held REAL NOT NULL DEFAULT 0;
ALTER TABLE memories ADD COLUMN failed REAL NOT NULL DEFAULT 0;
ALTER TABLE memories ADD COLUMN last_used_at INTEGER;
UPDATE memories SET prior = confidence;
CREATE INDEX patterns_reported ON patterns (id) WHERE held + failed > 0 AND deleted_at IS NULL;
CREATE INDEX memories_reported ON memories (id) WHERE held + failed > 0 AND deleted_at IS NULL;

-- Of entries that say the same, one of the user's own stands for those of pages and tools.
ALTER TABLE entries ADD COLUMN by_user INTEGER NOT NULL DEFAULT 0 CHECK (by_user IN (0, 1));
-- What an entry says is compared with its signs, too: "a < b" and "a > b" are not the same.
UPDATE entries SET due = 1 WHERE gist <> 0;
