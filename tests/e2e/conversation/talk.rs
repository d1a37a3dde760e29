//! A synthetic conversation of 200 turns with tool calls and 20 facts.

use serde_json::{Value, json};

use super::{assistant, tool, user};

/// Facts: turn, speaker (user, assistant or tool), sentence, and the part that identifies it.
const FACTS: [(usize, char, &str, &str); 20] = [
    (2, 'u', "Before I forget, the staging login is qa-robot and its passphrase is Tulip-Mango-71.", "Tulip-Mango-71"),
    (
        9,
        'u',
        "Please keep the phone in portrait, the landscape layout is out of scope for this release.",
        "landscape layout",
    ),
    (
        15,
        'a',
        "The cart shows 19.90 although two teas cost 24.80, so the discount is applied twice.",
        "discount is applied twice",
    ),
    (21, 'u', "By the way Frau Hollmann from finance has to sign off before anything goes live.", "Hollmann"),
    (33, 't', "{\"order\":{\"reference\":\"ZK-88213\",\"carrier\":\"Nordpost\"},\"rows\":[1,2,3]}", "ZK-88213"),
    (40, 'u', "We agreed yesterday to drop the coupon field on tablets.", "coupon field on tablets"),
    (
        47,
        'a',
        "I found that the search box ignores umlauts: Müller gives nothing and Mueller gives four hits.",
        "ignores umlauts",
    ),
    (52, 'u', "My preference is short reports with screenshots, never more than one page.", "one page"),
    (60, 'u', "The deadline moved to the 14th of March.", "14th of March"),
    (66, 'a', "The checkout needed 6.4 seconds on the slow network profile, the limit is 5 seconds.", "6.4 seconds"),
    (74, 'u', "If the courier page hangs, kill com.shop.courierd and not the whole app.", "com.shop.courierd"),
    (81, 't', "The importer skipped 3 rows because the column gross_weight was empty.", "gross_weight"),
    (90, 'u', "Our test customer is called Ottilie Brandt and lives in Bregenz.", "Ottilie Brandt"),
    (99, 'a', "Tapping Pay twice within a second creates two orders; this is bug 412 in the tracker.", "bug 412"),
    (107, 'u', "取消订单以后，退款要等三个工作日才会到账。", "三个工作日"),
    (118, 'u', "The designers want the accent colour to be teal, not green.", "teal, not green"),
    (127, 'u', "Only devices with Android 12 or newer get the new wallet.", "Android 12 or newer"),
    (139, 'a', "The invoice PDF is rendered without the VAT number when the customer is a company.", "VAT number"),
    (
        150,
        't',
        "{\"ok\":true,\"hint\":\"The feature flag is named wallet_v3_rollout and stands at 20 percent.\"}",
        "wallet_v3_rollout",
    ),
    (165, 'u', "Do not touch the loyalty points, that migration is owned by the team in Gdansk.", "Gdansk"),
];

const REQUESTS: [&str; 8] = [
    "open the next page please",
    "scroll down a bit and tell me what you see",
    "go back",
    "now tap on item",
    "ok, continue",
    "can you check whether the list loads?",
    "try the same with row",
    "thanks, next one",
];

const ANSWERS: [&str; 8] = [
    "Done. The page is open and shows a list of items with prices.",
    "I scrolled down; there are more rows of the same kind.",
    "I went back to the page before.",
    "I tapped it, and the detail page came up.",
    "All right, going on with the next step.",
    "Yes, the list loads and its rows can be tapped.",
    "It behaves in the same way as the row before.",
    "You are welcome. The next page is loading now.",
];

fn rows(turn: usize) -> String {
    let rows: Vec<Value> = (0..6)
        .map(|i| json!({"ref": format!("@n{i}"), "label": format!("Item {}", turn * 7 + i), "bounds": [0, 100 * i, 1080, 100 * i + 96]}))
        .collect();
    json!({"success": true, "topActivity": "com.shop/.List", "rows": rows}).to_string()
}

/// Returns the conversation, and the parts that identify its facts.
pub fn synthetic_conversation() -> (Vec<Value>, Vec<&'static str>) {
    let mut messages = vec![json!({"role": "system", "content": "You test the shop app on a phone. Be brief."})];
    for turn in 1..=200 {
        let fact = FACTS.iter().find(|f| f.0 == turn);
        let fact_of = |speaker: char| fact.filter(|f| f.1 == speaker).map(|f| f.2);
        let request = format!("{} {turn}", REQUESTS[turn % REQUESTS.len()]);
        messages.push(user(&fact_of('u').map_or(request.clone(), |f| format!("{request}. {f}"))));
        let answer = fact_of('t').map_or_else(|| rows(turn), str::to_owned);
        messages.extend(tool(
            &format!("c{turn}"),
            "observe_refs",
            json!({"session": "shop", "page": turn % 9}),
            &answer,
        ));
        let answer = ANSWERS[turn * 3 % ANSWERS.len()];
        messages.push(assistant(&fact_of('a').map_or(answer.to_owned(), |f| format!("{answer} {f}"))));
    }
    (messages, FACTS.iter().map(|f| f.3).collect())
}
