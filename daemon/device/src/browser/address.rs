//! Addresses that a browser may open.

use std::net::IpAddr;

use url::{Host, Url};

/// Which addresses a browser may open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// Whether addresses of this machine and of private networks are allowed.
    pub private: bool,
    /// The only domains that are allowed, with those below them; if empty, all are.
    pub allow: Vec<String>,
    /// Domains that are not allowed, nor those below them.
    pub deny: Vec<String>,
    /// Host and port of the start page, if it is on this machine or in a private network. The settings name it, so it is
    /// allowed; if it is on this machine, by each name of this machine.
    home: Option<(String, Option<u16>)>,
}

/// Address of an empty page, which has no host.
const EMPTY: &str = "about:blank";

const PAGE: &str = "a domain such as example.com, or a URL that begins with http:// or https://";

impl Rules {
    /// Creates rules. `start` is the start page.
    ///
    /// # Errors
    /// Describes the accepted values if the start page is not allowed.
    pub fn new(private: bool, allow: &[String], deny: &[String], start: &str) -> Result<(Self, Url), &'static str> {
        let all = Self { private: true, allow: allow.to_vec(), deny: deny.to_vec(), home: None };
        if start == EMPTY {
            let empty = Url::parse(start).map_err(|_| PAGE)?;
            return Ok((Self { private, ..all }, empty));
        }
        let start = all.page(start)?;
        let name = start.host_str().unwrap_or_default().to_owned();
        let home = Some((name, start.port_or_known_default())).filter(|(name, _)| is_private_name(name));
        Ok((Self { private, home, ..all }, start))
    }

    /// Returns the URL of the page to open, given as a URL or a domain.
    ///
    /// # Errors
    /// Describes the accepted values if the address is none of them.
    pub fn page(&self, text: &str) -> Result<Url, &'static str> {
        let text = text.trim();
        let whole = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
        let url = Url::parse(&whole).map_err(|_| PAGE)?;
        let has_user = !url.username().is_empty() || url.password().is_some();
        if !matches!(url.scheme(), "http" | "https") || text.contains(char::is_whitespace) || has_user {
            return Err(PAGE);
        }
        self.check_host(&url)?;
        Ok(url)
    }

    /// Checks the address of something that a page is about to load: a page, or the content of a frame.
    ///
    /// # Errors
    /// Describes the accepted values if the address is not allowed.
    pub fn check(&self, url: &str) -> Result<(), &'static str> {
        let url = Url::parse(url).map_err(|_| PAGE)?;
        match url.scheme() {
            "http" | "https" => self.check_host(&url),
            // The page itself is the source of these.
            "about" | "data" | "blob" => Ok(()),
            _ => Err(PAGE),
        }
    }

    fn check_host(&self, url: &Url) -> Result<(), &'static str> {
        let (name, private) = match url.host() {
            None => return Err(PAGE),
            Some(Host::Domain(name)) => {
                let name = name.trim_end_matches('.').to_lowercase();
                let private = is_private_name(&name);
                (name, private)
            }
            Some(Host::Ipv4(ip)) => (ip.to_string(), is_private(IpAddr::V4(ip))),
            Some(Host::Ipv6(ip)) => (ip.to_string(), is_private(IpAddr::V6(ip))),
        };
        let is_home = |(home, port): &(String, Option<u16>)| {
            *port == url.port_or_known_default() && (*home == name || is_this_machine(home) && is_this_machine(&name))
        };
        let is_in = |domains: &[String]| domains.iter().any(|domain| is_below(&name, domain));
        if is_in(&self.deny) {
            return Err("a site that `browser.deny` in the settings file does not name");
        }
        if !self.allow.is_empty() && !is_in(&self.allow) {
            return Err("a site that `browser.allow` in the settings file names");
        }
        if private && !self.private && !is_in(&self.allow) && !self.home.as_ref().is_some_and(is_home) {
            return Err("the address of a public site; `browser.allow_private` in the settings file allows others");
        }
        Ok(())
    }
}

/// Returns whether a name is a domain or below it.
fn is_below(name: &str, domain: &str) -> bool {
    let domain = domain.trim().trim_start_matches("*.").trim_matches('.').to_lowercase();
    name.strip_suffix(domain.as_str())
        .is_some_and(|rest| !domain.is_empty() && (rest.is_empty() || rest.ends_with('.')))
}

/// Returns whether a name or an address, as in a URL, belongs to this machine or to a private network.
fn is_private_name(name: &str) -> bool {
    let name = name.trim_matches(['[', ']']).trim_end_matches('.');
    match name.parse::<IpAddr>() {
        Ok(ip) => is_private(ip),
        Err(_) => !name.contains('.') || name.ends_with(".localhost") || name.ends_with(".local"),
    }
}

/// Returns whether a name or an address, as in a URL, is one of this machine itself.
fn is_this_machine(name: &str) -> bool {
    let name = name.trim_matches(['[', ']']);
    name == "localhost" || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Returns whether an address belongs to this machine or to a private network.
fn is_private(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => {
            let shared = ip.octets()[0] == 100 && ip.octets()[1] & 0xC0 == 64;
            ip.is_loopback()
                || ip.is_private()
                || ip.is_link_local()
                || ip.is_unspecified()
                || ip.is_broadcast()
                || shared
        }
        IpAddr::V6(ip) => match ip.to_ipv4_mapped() {
            Some(ip) => is_private(IpAddr::V4(ip)),
            None => {
                let (unique, link) = (ip.segments()[0] & 0xFE00 == 0xFC00, ip.segments()[0] & 0xFFC0 == 0xFE80);
                ip.is_loopback() || ip.is_unspecified() || unique || link
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_page_is_allowed_wherever_it_is() {
        let (rules, start) = Rules::new(false, &[], &[], "http://127.0.0.1:8080/shop").expect("rules");
        assert_eq!(start.path(), "/shop");
        for url in
            ["http://127.0.0.1:8080/", "http://localhost:8080/frame", "http://[::1]:8080/", "https://example.com/"]
        {
            assert_eq!(rules.check(url), Ok(()), "{url}");
        }
        for url in ["http://127.0.0.1:8081/", "http://localhost/", "http://10.0.0.1:8080/", "http://router:8080/"] {
            assert!(rules.check(url).is_err(), "{url}");
        }
        let (rules, _) = Rules::new(false, &[], &[], "https://example.com").expect("rules");
        assert!(rules.check("http://127.0.0.1:443/").is_err());
        let denied = ["example.com".to_owned()];
        assert!(Rules::new(false, &[], &denied, "https://example.com").is_err());
    }

    fn checked(text: &str, private: bool) -> Result<Url, &'static str> {
        Rules { private, ..Rules::default() }.page(text)
    }

    #[test]
    fn listed_domains_include_those_below_them() {
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let rules = Rules {
            allow: list(&["example.com", "*.shop.example"]),
            deny: list(&["ads.example.com"]),
            ..Rules::default()
        };
        for url in
            ["https://example.com/", "https://www.example.com/a", "https://EXAMPLE.com./", "http://x.shop.example"]
        {
            assert_eq!(rules.check(url), Ok(()), "{url}");
        }
        for url in [
            "https://ads.example.com/",
            "https://a.ads.example.com/",
            "https://badexample.com/",
            "https://example.com.evil.test/",
            "https://127.0.0.1/",
            "file:///etc/passwd",
            "chrome://settings/",
        ] {
            assert!(rules.check(url).is_err(), "{url}");
        }
        assert_eq!(rules.check("about:srcdoc"), Ok(()));
    }

    #[test]
    fn only_public_pages_are_opened_unless_private_ones_are_allowed() {
        for (text, url) in [
            ("example.com", "https://example.com/"),
            ("http://example.com/a?b#c", "http://example.com/a?b#c"),
            (" https://93.184.216.34/ ", "https://93.184.216.34/"),
        ] {
            assert_eq!(checked(text, false).map(String::from), Ok(url.to_owned()), "{text}");
        }
        for text in [
            "localhost",
            "http://127.0.0.1:80/",
            "http://10.1.2.3",
            "http://[::1]/",
            "http://[::ffff:192.168.0.1]/",
            "http://169.254.169.254/latest",
            "http://router/",
            "http://a.localhost",
            "http://0x7f.1/",
            "http://[fd00::1]",
            "http://localhost./",
            "router.",
        ] {
            assert!(checked(text, false).is_err(), "{text}");
            assert!(checked(text, true).is_ok(), "{text}");
        }
        for text in [
            "https://user:password@example.com/",
            "file:///etc/passwd",
            "chrome://settings",
            "javascript:alert(1)",
            "data:text/html,x",
            "",
            "two words",
        ] {
            assert!(checked(text, true).is_err(), "{text}");
        }
    }
}
