//! Sites, which group the pages of a browser by registrable domain.

/// A site, parsed from a URL. Credentials, path and query are not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// Registrable domain, such as `united.com`. For a host without a registrable domain, such as `localhost` or an IP
    /// address: the host and, if there is one, the port, such as `localhost:8080`.
    pub name: String,
    /// Full host name in lower case, with the port if the URL contains one.
    pub address: String,
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
    let registrable = (!address).then(|| psl::domain_str(&host)).flatten().map(str::to_owned);
    let address = port.map_or_else(|| host.clone(), |port| format!("{host}:{port}"));
    Some(Site { name: registrable.unwrap_or_else(|| address.clone()), address })
}

/// Returns the name of the site that a caller names by its domain, a host, a URL, or the name of its directory in an
/// export.
pub fn name_of(given: &str) -> Option<String> {
    let site = parse(given).or_else(|| parse(&of_directory(given))).map(|site| site.name);
    site.or_else(|| is_word(given).then(|| given.to_lowercase()))
}

/// Returns whether a text can be the name of a host in a local network.
fn is_word(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    !text.is_empty() && text.len() <= 253 && text.chars().all(is_part)
}

/// Returns the name of a site's directory in an export: the name of the site with underscores. Fingerprints of pages
/// contain this name, too.
pub fn directory(site: &str) -> String {
    site.replace(['.', ':'], "_").replace(['[', ']'], "")
}

/// Returns the host of a site, with its port if the name has one, given the name of its directory in an export.
fn of_directory(name: &str) -> String {
    let parts: Vec<&str> = name.split('_').collect();
    let is_number = |part: &&str| part.parse::<u16>().is_ok();
    let (host, port) = match parts.split_last() {
        // An IP address has four numbers.
        Some((last, host)) if is_number(last) && (host.len() == 4 || !host.iter().all(is_number)) => (host, Some(last)),
        _ => (parts.as_slice(), None),
    };
    host.join(".") + &port.map_or_else(String::new, |port| format!(":{port}"))
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
            assert_eq!(name(url).as_deref(), Some("united.com"), "{url}");
        }
        assert_eq!(name("https://kyfw.12306.cn/otn").as_deref(), Some("12306.cn"));
        assert_eq!(name("http://shop.example.co.uk").as_deref(), Some("example.co.uk"));
        assert_eq!(name("https://me.github.io/").as_deref(), Some("me.github.io"), "a public suffix");
        let site = parse("https://User:pw@Shop.Example.COM:8443/a").expect("a site");
        assert_eq!((site.name.as_str(), site.address.as_str()), ("example.com", "shop.example.com:8443"));
        assert!(!format!("{site:?}").contains("pw"));
    }

    #[test]
    fn localhost_and_addresses_keep_their_port() {
        assert_eq!(name("http://localhost:8080/x").as_deref(), Some("localhost:8080"));
        assert_eq!(name("localhost").as_deref(), Some("localhost"));
        assert_eq!(name("http://127.0.0.1:3000").as_deref(), Some("127.0.0.1:3000"));
        assert_eq!(name("https://[::1]:3000/").as_deref(), Some("[::1]:3000"));
        assert_eq!(name("intranet:81").as_deref(), Some("intranet:81"));
    }

    #[test]
    fn callers_name_sites_by_domain_host_url_or_directory() {
        for (given, site) in [
            ("united.com", "united.com"),
            ("https://www.united.com/book?x", "united.com"),
            ("united_com", "united.com"),
            ("www_united_com", "united.com"),
            ("example_co_uk", "example.co.uk"),
            ("localhost_8080", "localhost:8080"),
            ("127_0_0_1_3000", "127.0.0.1:3000"),
            ("127_0_0_1", "127.0.0.1"),
            ("Intranet", "intranet"),
        ] {
            assert_eq!(name_of(given).as_deref(), Some(site), "{given}");
        }
        assert_eq!((name_of("two words"), name_of(""), name_of("file:///x")), (None, None, None));
        assert_eq!(directory("[::1]:3000"), "__1_3000");
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
