//! Recall: entries are found again, only by sessions that may see them, and offered at the right moment.

use std::sync::Mutex;

use afd_tests::qdrant::TestQdrant;
use afd_tests::wait::until;
use afd_tests::{Client, TestPhone, World};
use serde_json::{Value, json};

/// Backend of the vector search. Each test below runs with both backends.
struct Backend {
    qdrant: bool,
    /// Collections to delete at the end.
    used: Mutex<Vec<TestQdrant>>,
}

impl Backend {
    fn new(qdrant: bool) -> Self {
        Self { qdrant, used: Mutex::default() }
    }

    /// Returns settings with these lines in the table `recall`.
    fn settings(&self, lines: &str) -> String {
        let mut qdrant = String::new();
        if self.qdrant {
            let own = TestQdrant::new();
            qdrant = own.settings();
            self.used.lock().expect("the used ones").push(own);
        }
        format!("[recall]\n{qdrant}{lines}")
    }

    fn world(&self) -> World {
        World::with(TestPhone::start(), &self.settings(""))
    }

    fn process(&self) -> World {
        World::with_process(TestPhone::start(), &self.settings(""))
    }
}

/// Defines two tests for each function: one with the embedded index and one with Qdrant.
macro_rules! on_both {
    ($($test:ident),* $(,)?) => {
        mod embedded {
            $(#[test] fn $test() { super::$test(&crate::recall::Backend::new(false)); })*
        }
        mod with_qdrant {
            $(#[test] #[ignore = "needs Qdrant"] fn $test() {
                super::$test(&crate::recall::Backend::new(true));
            })*
        }
    };
}

mod evaluation;
mod finding;
mod handing;
mod qdrant;
mod upkeep;
mod words;

/// Waits until all entries are indexed and, if Qdrant is used, uploaded.
pub(crate) fn settled(client: &mut Client) {
    until("the index", || {
        let status = client.ok("recall.status", json!({}));
        (status["due"] == 0 && (status["qdrant"].is_null() || status["qdrant"]["pending"] == 0)).then_some(())
    });
}

fn recall(client: &mut Client, params: Value) -> Value {
    settled(client);
    client.ok("recall.search", params)
}

fn search(client: &mut Client, query: &str) -> Value {
    recall(client, json!({"query": query}))
}

/// Returns the type and the title, or else the text, of each entry found.
fn told(found: &Value) -> Vec<String> {
    let entries = found["entries"].as_array().expect("entries").iter();
    entries
        .map(|e| {
            format!(
                "{} {}",
                e["type"].as_str().unwrap_or("?"),
                e["title"].as_str().or(e["text"].as_str()).unwrap_or("?")
            )
        })
        .collect()
}

fn finds(client: &mut Client, query: &str, what: &str) -> bool {
    told(&search(client, query)).iter().any(|entry| entry == what)
}

/// Saves one record of each kind.
fn fill(client: &mut Client) {
    client.ok("session.start", json!({"goal": "release test of the photo album", "app": "com.shop"}));
    client.ok(
        "memory.save",
        json!({"topic": "nav/settings", "content": "the gear icon opens the preferences", "app": "com.shop"}),
    );
    client.ok(
        "session.bug.add",
        json!({"title": "app crashes when the screen is rotated", "description": "NullPointerException in CartFragment", "app": "com.shop"}),
    );
    client.ok(
        "session.result.add",
        json!({"name": "coupon twice", "status": "failed", "summary": "SPRING10 counted two times"}),
    );
    client.ok(
        "pattern.save",
        json!({"kind": "solution", "text": "restart the app when the list stays empty", "app": "com.shop"}),
    );
    client.ok(
        "pageModel.save",
        json!({"page": "https://shop.example/cart", "pageType": "list", "elements": [{"name": "Proceed to payment"}]}),
    );
    client.ok(
        "recall.store",
        json!({"text": "invoices go to accounting@shop.example", "app": "com.shop", "source": "user"}),
    );
}
