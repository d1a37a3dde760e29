//! Node ids and ref tokens, computed in the same way as in the service.

use crate::scene::{Node, Window};

/// Returns Java's `String.hashCode`, computed over UTF-16 units, as an unsigned number.
pub fn java_hash(text: &str) -> u32 {
    text.encode_utf16().fold(0u32, |h, unit| h.wrapping_mul(31).wrapping_add(u32::from(unit)))
}

fn or_empty(text: &Option<String>) -> &str {
    text.as_deref().unwrap_or("")
}

/// Rounds toward zero to a multiple of 8.
pub fn coarse(v: i32) -> i32 {
    (v / 8) * 8
}

/// Returns a node's id: `node_` and the hash of its resource id, class, bounds, depth, child index and parent id.
pub fn node_id(node: &Node, depth: usize, index: usize, parent: &str) -> String {
    let key = format!("{}|{}|{}|{depth}|{index}|{parent}", or_empty(&node.res_id), node.class, node.bounds.text());
    format!("node_{:x}", java_hash(&key))
}

/// Returns the edges of a node, each rounded by [`coarse`], joined by commas.
pub fn coarse_bounds(node: &Node) -> String {
    let b = &node.bounds;
    format!("{},{},{},{}", coarse(b.l), coarse(b.t), coarse(b.r), coarse(b.b))
}

fn content_key(node: &Node) -> String {
    format!("{}|{}|{}|{}", or_empty(&node.res_id), node.class, or_empty(&node.text), or_empty(&node.desc))
}

/// Returns the strict ref token, which includes the position.
pub fn exact_token(node: &Node, window: &Window) -> String {
    let key = format!("{}|{}|{}|{}", content_key(node), coarse_bounds(node), window.layer, u8::from(window.focused));
    format!("rt_{:x}", java_hash(&key))
}

/// Returns the lenient ref token, which includes size and traits, but not the position.
pub fn identity_token(node: &Node, window: &Window) -> String {
    let b = &node.bounds;
    let key = format!(
        "{}|{},{}|{}|{}|{}|{}|{}|{}",
        content_key(node),
        coarse(b.r - b.l),
        coarse(b.b - b.t),
        u8::from(node.clickable),
        u8::from(node.long_clickable),
        u8::from(node.editable),
        u8::from(node.scrollable),
        window.layer,
        u8::from(window.focused)
    );
    format!("ri_{:x}", java_hash(&key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Rect;

    #[test]
    fn node_ids_match_the_service() {
        let frame = Node::new("android.widget.FrameLayout", Rect::new(0, 0, 1080, 2400));
        assert_eq!(node_id(&frame, 0, 0, "root_w12"), "node_ddda1c64");
        assert_eq!(node_id(&frame, 0, 0, "root"), "node_498b05cb");
        let title = Node::new("android.widget.TextView", Rect::new(48, 310, 400, 370)).id("android:id/title");
        assert_eq!(node_id(&title, 1, 0, "node_ddda1c64"), "node_a50a1d15");
    }

    #[test]
    fn tokens_match_the_service() {
        let hash = |prefix: &str, key: &str| format!("{prefix}{:x}", java_hash(key));
        assert_eq!(hash("rt_", "android:id/title|android.widget.TextView|Wi-Fi||48,304,400,368|0|1"), "rt_b94927b");
        assert_eq!(hash("ri_", "android:id/title|android.widget.TextView|Wi-Fi||352,56|1|0|0|0|0|1"), "ri_ed1c5ce9");
        assert_eq!(
            hash(
                "rt_",
                "com.a:id/\u{4e2d}|android.view.View|\u{8bbe}\u{7f6e} \u{1F600}|\u{63cf}\u{8ff0}|-8,0,96,96|3|0"
            ),
            "rt_2e962f22"
        );
    }

    #[test]
    fn coarse_truncates_toward_zero() {
        assert_eq!([-5, -9, 7, 8, 17].map(coarse), [0, -8, 0, 8, 16]);
    }
}
