-- What was recorded on purpose may be told to everybody who uses the app, or to the session that recorded it.
ALTER TABLE notes ADD COLUMN scope TEXT NOT NULL DEFAULT 'app' CHECK (scope IN ('app', 'session'));
ALTER TABLE bugs ADD COLUMN scope TEXT NOT NULL DEFAULT 'app' CHECK (scope IN ('app', 'session'));
ALTER TABLE test_results ADD COLUMN scope TEXT NOT NULL DEFAULT 'app' CHECK (scope IN ('app', 'session'));
ALTER TABLE tasks ADD COLUMN scope TEXT NOT NULL DEFAULT 'app' CHECK (scope IN ('app', 'session'));
-- Of the digest of a session, and by default of what it records.
ALTER TABLE sessions ADD COLUMN scope TEXT NOT NULL DEFAULT 'app' CHECK (scope IN ('app', 'session'));

DROP TRIGGER notes_recalled_again;
CREATE TRIGGER notes_recalled_again AFTER UPDATE OF uid, content, app, topic, scope, deleted_at ON notes BEGIN
    UPDATE entries SET uid = NEW.uid, due = 1, gone = NEW.deleted_at IS NOT NULL WHERE kind = 'note' AND row_id = NEW.id;
END;
DROP TRIGGER bugs_recalled_again;
CREATE TRIGGER bugs_recalled_again AFTER UPDATE OF uid, title, description, steps, expected, actual, app, page, scope, status, resolution,
    deleted_at ON bugs BEGIN
    UPDATE entries SET uid = NEW.uid, due = 1, gone = NEW.deleted_at IS NOT NULL WHERE kind = 'bug' AND row_id = NEW.id;
END;
DROP TRIGGER test_results_recalled_again;
CREATE TRIGGER test_results_recalled_again AFTER UPDATE OF uid, name, status, app, page, summary, scope, deleted_at ON test_results BEGIN
    UPDATE entries SET uid = NEW.uid, due = 1, gone = NEW.deleted_at IS NOT NULL WHERE kind = 'result' AND row_id = NEW.id;
END;
DROP TRIGGER sessions_recalled_again;
CREATE TRIGGER sessions_recalled_again AFTER UPDATE OF uid, name, goal, app, summary, next_steps, blockers, scope, ended_at, deleted_at
    ON sessions BEGIN
    UPDATE entries SET uid = NEW.uid, due = 1, gone = NEW.deleted_at IS NOT NULL WHERE kind = 'session' AND row_id = NEW.id;
END;
-- A task that a session keeps to itself is not in a digest that others are told.
CREATE TRIGGER tasks_recalled AFTER UPDATE OF scope ON tasks BEGIN
    UPDATE entries SET due = 1 WHERE kind = 'session' AND row_id = NEW.session_id;
END;

-- Who said the sentence in `about`; NULL where that was not recorded.
ALTER TABLE message_facts ADD COLUMN about_by TEXT;
-- Message that says the same again, and when: while that one is there in full, the statement stands for the message before.
ALTER TABLE message_facts ADD COLUMN again INTEGER;
ALTER TABLE message_facts ADD COLUMN again_at INTEGER;

-- Who said what was learned: user, assistant, page, model, or the name of a tool; NULL where that was not recorded.
ALTER TABLE patterns ADD COLUMN source TEXT;
