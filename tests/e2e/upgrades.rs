//! Databases of earlier schemas, frozen when they were current, are upgraded without losing data.

use std::io::Read;

use afd_tests::docs::repository;
use afd_tests::{Daemon, World, screens, wait};
use serde_json::{Value, json};

/// Contents of the frozen databases, as far as their schemas can store them.
const EVENTS: usize = 19;
const SESSIONS: usize = 3;
const TRANSITIONS: usize = 3;

fn count(result: &Value, key: &str) -> usize {
    result[key].as_array().map_or(0, Vec::len)
}

/// SQL that reverts the changes of schemas 22 to 12.
pub const BACK_TO_11: &str =
    "DROP INDEX transitions_by_element; DROP INDEX transitions_by_role; ALTER TABLE transitions DROP COLUMN element_key;
    ALTER TABLE transitions DROP COLUMN role_key; ALTER TABLE devices DROP COLUMN part_of; DROP TRIGGER messages_recalled; DROP TRIGGER messages_recalled_again; DROP TRIGGER messages_forgotten; DROP TABLE text_words;
    DROP TABLE text_index; DROP TABLE entry_texts; CREATE TABLE message_words (conversation_id INTEGER NOT NULL, word INTEGER NOT NULL,
        position INTEGER NOT NULL, PRIMARY KEY (conversation_id, word, position)) STRICT, WITHOUT ROWID;
    CREATE VIRTUAL TABLE note_index USING fts5 (tokens, content = '', contentless_delete = 1, tokenize = 'ascii');
    DROP INDEX messages_live; DROP TRIGGER events_counted; DROP TRIGGER events_uncounted; DROP TRIGGER events_counted_again; DROP TRIGGER observations_counted;
    DROP TRIGGER observations_uncounted; DROP TRIGGER observations_counted_again; DROP TABLE session_pages; DROP TABLE session_totals; DROP TABLE import_choices; DROP TABLE imports; DROP TABLE outboxes; DROP TABLE former_origins; DROP TRIGGER notes_recalled; DROP TRIGGER notes_recalled_again; DROP TRIGGER notes_forgotten; DROP TRIGGER
    bugs_recalled; DROP TRIGGER bugs_recalled_again; DROP TRIGGER bugs_forgotten; DROP TRIGGER test_results_recalled; DROP
    TRIGGER test_results_recalled_again; DROP TRIGGER test_results_forgotten; DROP TRIGGER page_models_recalled; DROP
    TRIGGER page_models_recalled_again; DROP TRIGGER page_models_forgotten; DROP TRIGGER patterns_recalled; DROP TRIGGER
    patterns_recalled_again; DROP TRIGGER patterns_forgotten; DROP TRIGGER sessions_recalled; DROP TRIGGER
    sessions_recalled_again; DROP TRIGGER sessions_forgotten; DROP TRIGGER states_recalled; DROP TRIGGER
    states_recalled_again; DROP TRIGGER states_forgotten; DROP TRIGGER memories_recalled; DROP TRIGGER
    memories_recalled_again; DROP TRIGGER memories_forgotten; DROP TABLE upkeep_log; DROP TABLE sketches; DROP TABLE
    embeddings; DROP TABLE embedding_models; DROP TABLE entry_tags; DROP TABLE entries; DROP TABLE
    memories; DROP TRIGGER tasks_recalled; ALTER TABLE notes DROP COLUMN scope; ALTER TABLE bugs DROP COLUMN scope;
    ALTER TABLE test_results DROP COLUMN scope; ALTER TABLE tasks DROP COLUMN scope; ALTER TABLE sessions DROP COLUMN scope;
    ALTER TABLE message_facts DROP COLUMN about_by; ALTER TABLE message_facts DROP COLUMN again;
    ALTER TABLE message_facts DROP COLUMN again_at; ALTER TABLE patterns DROP COLUMN source; DROP INDEX patterns_reported;
    ALTER TABLE patterns DROP COLUMN held; ALTER TABLE patterns DROP COLUMN failed;
    DROP TABLE baseline_outcomes; DROP TABLE baseline_recoveries; DROP TABLE folds; DROP INDEX events_folded;
    DROP INDEX observations_folded; ALTER TABLE events DROP COLUMN folded; ALTER TABLE observations DROP COLUMN folded;";

/// Starts a daemon on a copy of the frozen database of a schema.
fn upgraded(schema: u32) -> World {
    with_database(&format!("tests/fixtures/schemas/{schema}.db.gz"))
}

/// Starts a daemon on a copy of a frozen database.
fn with_database(frozen: &str) -> World {
    with_changed(frozen, |_| {})
}

/// Starts a daemon on a copy of a frozen database that `change` has changed.
fn with_changed(frozen: &str, change: impl FnOnce(&rusqlite::Connection)) -> World {
    let mut world = World::bare(afd_tests::TestPhone::start(), "");
    world.daemon.stop();
    let mut database = Vec::new();
    let frozen = std::fs::File::open(repository(frozen)).expect("a frozen database");
    flate2::read::GzDecoder::new(frozen).read_to_end(&mut database).expect("decompresses");
    for file in ["memory.db", "memory.db-wal", "memory.db-shm"] {
        let _ = std::fs::remove_file(world.dir().join(file));
    }
    std::fs::write(world.dir().join("memory.db"), database).expect("writes");
    change(&rusqlite::Connection::open(world.dir().join("memory.db")).expect("opens"));
    world.daemon = Daemon::host(world.dir());
    world
}

#[test]
fn every_earlier_schema_is_upgraded_and_keeps_its_rows() {
    let current = World::new().client().ok("daemon.status", json!({}))["store"]["schema"].as_u64().expect("a number");
    let schemas = std::fs::read_dir(repository("tests/fixtures/schemas")).expect("lists").count();
    assert_eq!(schemas as u64, current, "freeze a database of each schema when it lands");
    for schema in 1..=u32::try_from(current).expect("small") {
        let world = upgraded(schema);
        let mut client = world.client();
        let store = client.ok("daemon.status", json!({}))["store"].clone();
        assert_eq!(
            (store["schema"].as_u64(), store["writable"].as_bool()),
            (Some(current), Some(true)),
            "schema {schema}"
        );
        assert_eq!(count(&client.ok("memory.log", json!({"limit": 100})), "events"), EVENTS, "schema {schema}");
        assert_eq!(count(&client.ok("session.list", json!({})), "sessions"), SESSIONS, "schema {schema}");
        // Experience is silent until it is rebuilt.
        wait::until("the rebuilt experience", || {
            let known = client.ok("memory.experience", json!({"app": "com.android.settings"}));
            (count(&known, "transitions") > 0)
                .then(|| assert_eq!(count(&known, "transitions"), TRANSITIONS, "schema {schema}"))
        });
        if schema >= 2 {
            assert_eq!(
                count(&client.ok("memory.search", json!({"query": "wifi switch"})), "notes"),
                1,
                "schema {schema}"
            );
        }
        if schema >= 3 {
            let states = client.ok("visual.states", json!({"app": "com.android.settings", "all": true}));
            assert_eq!(count(&states, "states"), 4, "schema {schema}");
        }
        if schema >= 4 {
            let messages = client.ok("conversation.list", json!({"session": "wifi-test"}));
            assert_eq!(count(&messages, "messages"), 3, "schema {schema}");
            assert_eq!(count(&client.ok("session.bug.list", json!({})), "bugs"), 1, "schema {schema}");
            let patterns = client.ok("pattern.find", json!({"app": "com.android.settings"}));
            assert!(count(&patterns, "patterns") >= 1, "schema {schema}");
        }
        client.ok("memory.save", json!({"topic": "after/upgrade", "content": "the upgraded database takes writes"}));
    }
}

#[test]
fn text_of_a_tool_leaves_the_statements_of_the_user() {
    let mut world = upgraded(10);
    world.daemon.stop();
    let file = world.dir().join("memory.db");
    let connection = rusqlite::Connection::open(&file).expect("opens");
    connection.execute_batch(&format!("{BACK_TO_11} PRAGMA user_version = 10")).expect("makes it schema 10 again");
    let first = "SELECT id, conversation_id, position FROM message_facts ORDER BY position LIMIT 1";
    let (fact, conversation, position): (i64, i64, i64) =
        connection.query_row(first, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).expect("a statement");
    connection
        .execute("UPDATE message_facts SET about = 'pay 500', position = ?1 WHERE id = ?2", (position + 1, fact))
        .expect("sets it");
    connection
        .execute(
            "UPDATE messages SET role = 'tool' WHERE conversation_id = ?1 AND position = ?2",
            (conversation, position),
        )
        .expect("a tool said it");
    drop(connection);
    world.daemon = Daemon::start(world.dir());
    world.daemon.stop();
    let connection = rusqlite::Connection::open(&file).expect("opens");
    let about: Option<String> = connection
        .query_row("SELECT about FROM message_facts WHERE id = ?1", [fact], |row| row.get(0))
        .expect("the statement");
    assert_eq!(about, None);
}

/// A version of schema 9 had a full-text index of messages instead of two tables; it may have been upgraded to schema
/// 10 since.
#[test]
fn messages_of_the_other_schema_9_are_found_after_the_upgrade() {
    let at_9 = "ALTER TABLE sessions DROP COLUMN elsewhere; ALTER TABLE tested_elements DROP COLUMN list_rows; PRAGMA user_version = 9";
    for back in [at_9, "PRAGMA user_version = 10"] {
        let mut world = upgraded(8);
        world.daemon.stop();
        let connection = rusqlite::Connection::open(world.dir().join("memory.db")).expect("opens");
        connection
            .execute_batch(&format!(
                "{BACK_TO_11} DROP TABLE message_words; DROP TABLE message_subjects;
                 CREATE VIRTUAL TABLE message_index USING fts5 (tokens, content = '', contentless_delete = 1, tokenize = 'ascii');
                 {back}"
            ))
            .expect("makes it the other schema");
        drop(connection);
        world.daemon = Daemon::start(world.dir());
        let mut client = world.client();
        let said = client.ok("conversation.list", json!({"session": "wifi-test"}))["messages"].clone();
        let words = said
            .as_array()
            .expect("messages")
            .iter()
            .find_map(|m| m["content"].as_str().filter(|t| !t.is_empty()))
            .expect("a text");
        wait::until("the search entries", || {
            let found = client.ok("conversation.search", json!({"session": "wifi-test", "query": words}));
            found["messages"].as_array().is_some_and(|list| !list.is_empty()).then_some(())
        });
    }
}

#[test]
fn acts_of_schema_6_that_did_nothing_are_told_as_such() {
    let mut world = World::with_clock();
    let mut client = world.client();
    for _ in 0..3 {
        world.advance(20_000);
        world.phone.scene("com.android.settings", Some("display"));
        client.ok("observe.page", json!({}));
        client.ok("act.tap", json!({"value": "Font size"}));
        world.advance(5_000);
        client.ok("observe.page", json!({}));
    }
    client.ok("memory.stats", json!({}));
    world.daemon.stop();
    // The state after an upgrade to schema 6: the content of the page before the action is unknown, and its outcome was
    // mistaken for a change.
    let connection = rusqlite::Connection::open(world.dir().join("memory.db")).expect("opens");
    let changed = connection
        .execute(
            "UPDATE events SET content_hash = NULL, outcome = 'same' WHERE category = 'act' AND before_uid IS NOT NULL",
            [],
        )
        .expect("updates");
    assert_eq!(changed, 3);
    let before_8 = "DROP INDEX patterns_once; ALTER TABLE patterns DROP COLUMN scope;
        CREATE UNIQUE INDEX patterns_once ON patterns (kind, app, page, text) WHERE deleted_at IS NULL;";
    let before_10 = "ALTER TABLE sessions DROP COLUMN elsewhere; ALTER TABLE tested_elements DROP COLUMN list_rows;";
    let before_9 =
        "DROP TABLE message_words; DROP TABLE message_subjects; DROP TABLE message_facts; DROP TABLE message_terms;
        DROP TABLE summaries; DROP TABLE messages; DROP TABLE conversations;
        DROP INDEX bugs_by_page; DROP INDEX test_results_by_page; DROP INDEX patterns_by_confidence;";
    let sessions = std::fs::read_to_string(repository("migrations/04-sessions/up.sql")).expect("reads");
    let begin = sessions.find("CREATE TABLE conversations").expect("the tables of conversations");
    let end = sessions.find("CREATE TABLE patterns").expect("the tables after them");
    connection
        .execute_batch(&format!(
            "{BACK_TO_11} {before_10} {before_9} {} {before_8} PRAGMA user_version = 6",
            &sessions[begin..end]
        ))
        .expect("sets the version");
    drop(connection);
    world.daemon = Daemon::start(world.dir());
    let mut client = world.client();
    let text = wait::until("the rebuilt experience", || {
        let known = client.ok("memory.experience", json!({"app": "com.android.settings"}));
        known["transitions"].as_array()?.iter().find(|t| t["action"]["verb"] == "tap")?["text"]
            .as_str()
            .map(str::to_owned)
    });
    assert!(text.contains("did nothing 3 of 3 times"), "{text}");
}

/// The database is from a version that identified pages with few ids by their classes alone. In it, a tap on "Add
/// recipe" led to the form, three times.
#[test]
fn pages_with_few_ids_keep_their_states_and_outcomes() {
    let world = with_database("tests/fixtures/pages-with-few-ids.db.gz");
    let screens = &screens::read(&repository("tests/screens/tuned"))["kitchen"];
    let show = |page: &str| {
        let screen = &screens.iter().find(|s| s.page == page).expect("a screen").screen;
        world.phone.lock().shown = Some(screen.scene());
    };
    std::fs::write(
        world.dir().join("config.toml"),
        format!("[device.pixel]\nurl = \"{}\"\ntoken = \"{}\"\n", world.phone.url(), afd_tests::phone::TOKEN),
    )
    .expect("writes");
    let mut client = world.client();
    wait::until("the device", || (count(&client.ok("device.list", json!({})), "devices") > 0).then_some(()));
    for _ in 0..3 {
        show("recipes");
        let page = client.ok("observe.page", json!({}));
        assert_eq!(page["page"]["state"], "s_702dfe", "the list is the state that it was");
        let known = page["hints"].as_array().into_iter().flatten().find(|h| h["target"]["title"] == "Add recipe");
        let outcome = known.and_then(|h| h["outcome"].as_str()).unwrap_or_default();
        assert!(outcome.starts_with("-> \"MainActivity\" 0.8"), "{page}");
        show("add_recipe");
        assert_eq!(client.ok("observe.page", json!({}))["page"]["state"], "s_e23101", "so is the form");
        // A page that used to share a state with others does not take over the state of another page.
        show("settings_cooking");
        let settings = client.ok("observe.page", json!({}))["page"]["state"].clone();
        assert!(settings != "s_702dfe" && settings != "s_e23101", "{settings}");
    }
}

#[test]
fn sites_of_schema_19_are_named_by_their_domains() {
    let world = with_changed("tests/fixtures/schemas/19.db.gz", |database| {
        database
            .execute_batch(
                r#"INSERT INTO apps (uid, origin, app, site, hosts, created_at, updated_at) VALUES
                    ('s1', 'o', 'web', 'united_com', '["www.united.com"]', 1, 1), ('s2', 'o', 'web', 'localhost_8080', '["localhost:8080"]', 1, 1),
                    ('s3', 'o', 'web', '127_0_0_1_3000', '["127.0.0.1:3000"]', 1, 1), ('s4', 'o', 'web', 'example_co_uk', '[]', 1, 1);
                   INSERT INTO memories (uid, origin, session_id, kind, text, app, site, scope, source, prior, confidence, tags, related, created_at, updated_at)
                    SELECT 'm1', 'o', id, 'fact', 'the lounge opens at five', '', 'book.united.com', 'everybody', 'user', 0.7, 0.7, '[]', '[]', 1, 1
                    FROM sessions LIMIT 1"#,
            )
            .expect("adds sites");
    });
    let mut client = world.client();
    let database = rusqlite::Connection::open(world.dir().join("memory.db")).expect("opens");
    let sites = "SELECT group_concat(site, ' ') FROM (SELECT site FROM apps WHERE site <> '' ORDER BY site)";
    let sites: String = database.query_row(sites, [], |row| row.get(0)).expect("reads");
    assert_eq!(sites, "127.0.0.1:3000 example.co.uk localhost:8080 united.com");
    let found = client.ok("recall.search", json!({"query": "lounge", "site": "https://www.united.com/"}));
    assert_eq!(found["entries"][0]["site"], "united.com", "{found}");
}
