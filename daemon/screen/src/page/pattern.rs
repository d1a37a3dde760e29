//! Page patterns: page names whose variable parts are replaced by placeholders, so that `/users/1` and `/users/2` count
//! as one page.

use url::Url;

/// Maximum length of a page name, in characters.
pub const MAX_LENGTH: usize = 2_000;

/// Returns the pattern of a page. The pattern of an HTTP URL consists of scheme, host, port, and path with
/// placeholders. Credentials and query are dropped, and a fragment is kept only if it is a route. Any other name (a
/// page key, an activity or a state code) is its own pattern.
pub fn of(page: &str) -> String {
    let page = page.trim();
    let Some(url) = parse(page) else { return page.to_owned() };
    let mut pattern = format!("{}://{}", url.scheme(), url.host_str().unwrap_or_default());
    if let Some(port) = url.port() {
        pattern.push_str(&format!(":{port}"));
    }
    pattern.push_str(&path(url.path()));
    // The route of a single-page application; any other fragment is an anchor on the same page.
    if let Some(route) = url.fragment().map(|f| f.trim_start_matches('!')).filter(|f| f.starts_with('/')) {
        let route = route.split('?').next().unwrap_or_default();
        pattern.push_str(&format!("#{}", path(route)));
    }
    pattern
}

fn parse(page: &str) -> Option<Url> {
    let (scheme, _) = page.split_once("://")?;
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return None;
    }
    Url::parse(page).ok().filter(Url::has_host)
}

fn path(path: &str) -> String {
    let segments = path.split('/').filter(|s| !s.is_empty()).map(segment);
    let joined = segments.collect::<Vec<_>>().join("/");
    format!("/{joined}")
}

/// Returns a path segment, or the placeholder that replaces it. Only whole segments are replaced, so `2fa` stays as it
/// is.
fn segment(text: &str) -> String {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let length = text.chars().count();
    let hex = text.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let words = text.split(['-', '_']).filter(|w| w.len() > 2 && w.chars().all(|c| c.is_ascii_lowercase())).count();
    let placeholder = if text.parse::<i128>().is_ok() {
        Some(":id")
    } else if is_date(text) {
        Some(":date")
    } else if hex && length >= 8 && digits > 0 {
        Some(":id")
    } else if plain && length >= 12 && digits >= 3 && words < 2 {
        // Opaque keys, such as database ids: at least 12 characters, three digits, and fewer than two lower-case words.
        Some(":id")
    } else {
        None
    };
    placeholder.map_or_else(|| text.to_owned(), str::to_owned)
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let number = |text: &str, length: usize| text.len() == length && text.chars().all(|c| c.is_ascii_digit());
    matches!(parts.as_slice(), [year, month, day] if number(year, 4) && number(month, 2) && number(day, 2))
}

/// Returns the hash of an address's path pattern, as 8 hexadecimal digits. `/item/123` and `/item/456` have the same
/// pattern. Returns `None` if the path is empty or the address cannot be parsed.
pub fn path_hash(address: &str) -> Option<String> {
    let address = address.trim();
    let whole = if address.contains("://") { address.to_owned() } else { format!("https://{address}") };
    let pattern = of(&whole);
    let (_, rest) = pattern.split_once("://")?;
    let path = &rest[rest.find('/')?..];
    (path != "/").then(|| format!("{:016x}", super::structure::feature(path))[..8].to_owned())
}

/// Returns the origin of a URL, or the app of another page. The patterns of the pages of one site or app share it.
pub fn origin(page: &str) -> &str {
    let host = page.find("://").map_or(0, |scheme| scheme + 3);
    page[host..].find(['/', '?', '#', '|']).map_or(page, |end| &page[..host + end])
}

/// Returns the similarity of two patterns, 0 to 1: 1 if they are equal, otherwise the share of equal leading parts, at
/// most 0.99.
pub fn similarity(one: &str, other: &str) -> f64 {
    if one == other {
        return 1.0;
    }
    let parts = |pattern: &str| -> Vec<String> {
        pattern.split(['/', '|', '#']).filter(|p| !p.is_empty() && !p.ends_with(':')).map(str::to_owned).collect()
    };
    let (one, other) = (parts(one), parts(other));
    let common = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let longest = one.len().max(other.len()).max(1);
    // Only equal patterns score 1.
    (common as f64 / longest as f64).min(0.99)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variable_parts_become_placeholders() {
        for (page, pattern) in [
            ("https://Shop.Example:443/users/123/profile?tab=2#top", "https://shop.example/users/:id/profile"),
            ("https://me:secret@shop.example/cart/", "https://shop.example/cart"),
            ("https://shop.example/auth/2fa", "https://shop.example/auth/2fa"),
            (
                "https://shop.example/v2/orders/9f8b1c2d-1111-4222-8333-abcdefabcdef",
                "https://shop.example/v2/orders/:id",
            ),
            ("https://shop.example/o/5f2b9c7e8a", "https://shop.example/o/:id"),
            (
                "https://shop.example/news/2026-11-22/top-10-phones-of-2026",
                "https://shop.example/news/:date/top-10-phones-of-2026",
            ),
            ("https://shop.example/p/dQw4w9WgXcQ1a2b", "https://shop.example/p/:id"),
            ("http://localhost:8080/#/users/7?x=1", "http://localhost:8080/#/users/:id"),
            ("http://localhost:8080/#section", "http://localhost:8080/"),
            ("https://shop.example", "https://shop.example/"),
            ("com.example.shop/.Cart", "com.example.shop/.Cart"),
            ("act=com.example/.Main|wv=0|rid=list", "act=com.example/.Main|wv=0|rid=list"),
        ] {
            assert_eq!(of(page), pattern, "{page}");
            assert_eq!(of(&of(page)), pattern, "a pattern maps to itself: {page}");
        }
    }

    #[test]
    fn addresses_of_one_pattern_have_one_hash() {
        let hash = path_hash("shop.example.com/item/123?q=1");
        assert!(hash.as_ref().is_some_and(|h| h.len() == 8));
        assert_eq!(hash, path_hash("https://shop.example.com/item/456#reviews"));
        assert_ne!(hash, path_hash("shop.example.com/cart"));
        assert_eq!((path_hash("shop.example.com"), path_hash("https://shop.example.com/?q=1")), (None, None));
    }

    #[test]
    fn neighbouring_pages_are_similar() {
        let (cart, pay) = (of("https://s.example/shop/cart"), of("https://s.example/shop/pay"));
        assert!(similarity(&cart, &pay) > 0.5 && similarity(&cart, &pay) < 1.0);
        assert_eq!(similarity(&cart, &cart), 1.0);
        assert!(similarity(&cart, &of("https://s.example/about")) < similarity(&cart, &pay));
        assert_eq!(origin(&cart), "https://s.example");
        assert_eq!(origin("http://[::1]:80?secret=1"), "http://[::1]:80");
        assert_eq!(origin("com.example.shop/.Cart"), "com.example.shop");
    }
}
