//! Sites, which group the pages of a browser by registrable domain.

/// A site, parsed from a URL. Credentials, path and query are not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// Registrable domain with underscores, such as `united_com`. For a host without a registrable domain, such as
    /// `localhost` or an IP address: the host and, if there is one, the port, such as `localhost_8080`.
    pub name: String,
    /// Registrable domain, or the host itself if it has none.
    pub domain: String,
    /// Full host name, in lower case.
    pub host: String,
    /// Port, if the URL contains one.
    pub port: Option<u16>,
}

/// Parses a URL, a host, or the text of a browser's address bar. Returns `None` if it names no site: a file, an
/// internal page of the browser, or text that cannot be a host.
pub fn parse(url: &str) -> Option<Site> {
    let url = url.trim();
    let rest = match url.split_once("://") {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https") => rest,
        Some(_) => return None,
        None => url,
    };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let authority = authority.rsplit('@').next().unwrap_or_default();
    let (host, port) = split_port(authority)?;
    let host = host.trim_end_matches('.').to_lowercase();
    if host.is_empty() || host.len() > 253 {
        return None;
    }
    let address = host.starts_with('[') || host.parse::<std::net::Ipv4Addr>().is_ok();
    let valid = address || host.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '.' | '_'));
    // A single word in an address bar is a search query, unless it is `localhost` or has a port.
    if !valid || !(address || host == "localhost" || host.contains('.') || port.is_some()) {
        return None;
    }
    let registrable = (!address).then(|| psl::domain_str(&host)).flatten();
    let domain = registrable.unwrap_or(&host).to_owned();
    let plain = |text: &str| text.replace(['.', ':'], "_").replace(['[', ']'], "");
    let name = match (registrable, port) {
        (None, Some(port)) => format!("{}_{port}", plain(&host)),
        _ => plain(&domain),
    };
    Some(Site { name, domain, host, port })
}

/// Returns the hash of an address's path pattern, as 8 hexadecimal digits. `/item/123` and `/item/456` have the same
/// pattern. Returns `None` if the path is empty or the address cannot be parsed.
pub fn path_hash(address: &str) -> Option<String> {
    let address = address.trim();
    let whole = if address.contains("://") { address.to_owned() } else { format!("https://{address}") };
    let pattern = super::pattern::of(&whole);
    let (_, rest) = pattern.split_once("://")?;
    let path = &rest[rest.find('/')?..];
    (path != "/").then(|| format!("{:016x}", super::structure::feature(path))[..8].to_owned())
}

fn split_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let end = authority.rfind(']').map_or(0, |i| i + 1);
    if authority.starts_with('[') && authority[1..end.max(2) - 1].parse::<std::net::Ipv6Addr>().is_err() {
        return None;
    }
    match authority[end..].rfind(':') {
        Some(colon) => {
            let port = &authority[end + colon + 1..];
            let port = if port.is_empty() { None } else { Some(port.parse().ok()?) };
            Some((&authority[..end + colon], port))
        }
        None => Some((authority, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(url: &str) -> Option<String> {
        parse(url).map(|s| s.name)
    }

    #[test]
    fn a_site_is_its_registrable_domain() {
        for url in
            ["https://www.united.com/en/us", "united.com", "UNITED.COM.", "https://u:p@Book.United.com:8443/x?y@z"]
        {
            assert_eq!(name(url).as_deref(), Some("united_com"), "{url}");
        }
        assert_eq!(name("https://kyfw.12306.cn/otn").as_deref(), Some("12306_cn"));
        assert_eq!(name("http://shop.example.co.uk").as_deref(), Some("example_co_uk"));
        assert_eq!(name("https://me.github.io/").as_deref(), Some("me_github_io"), "a public suffix");
        let site = parse("https://User:pw@Shop.Example.COM:8443/a").expect("a site");
        assert_eq!(
            (site.domain.as_str(), site.host.as_str(), site.port),
            ("example.com", "shop.example.com", Some(8443))
        );
        assert!(!format!("{site:?}").contains("pw"));
    }

    #[test]
    fn localhost_and_addresses_keep_their_port() {
        assert_eq!(name("http://localhost:8080/x").as_deref(), Some("localhost_8080"));
        assert_eq!(name("localhost").as_deref(), Some("localhost"));
        assert_eq!(name("http://127.0.0.1:3000").as_deref(), Some("127_0_0_1_3000"));
        assert_eq!(name("https://[::1]:3000/").as_deref(), Some("__1_3000"));
        assert_eq!(name("intranet:81").as_deref(), Some("intranet_81"));
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
    fn non_sites_are_rejected() {
        for url in [
            "",
            "about:blank",
            "chrome://settings/x",
            "file:///tmp/a.html",
            "cheap flights",
            "united",
            "a b.com",
            "x:99999",
            "[zz]:1",
            "[",
        ] {
            assert_eq!(name(url), None, "{url}");
        }
    }
}
