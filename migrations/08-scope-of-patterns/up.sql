-- Who may be told a pattern: the session that it was learned in, everybody who uses the app, or everybody.
ALTER TABLE patterns ADD COLUMN scope TEXT NOT NULL DEFAULT 'session' CHECK (scope IN ('session', 'app', 'everybody'));
-- Facts and preferences were taken from what was said in a session, mostly by compaction; they stay there until somebody widens them.
UPDATE patterns SET scope = CASE
    WHEN kind IN ('keyFact', 'userPreference') AND session_id IS NOT NULL THEN 'session'
    WHEN app <> '' THEN 'app'
    ELSE 'everybody' END;
DROP INDEX patterns_once;
-- Two sessions may have learned the same.
CREATE UNIQUE INDEX patterns_once ON patterns (kind, app, page, text, scope, CASE scope WHEN 'session' THEN session_id ELSE 0 END)
    WHERE deleted_at IS NULL;
