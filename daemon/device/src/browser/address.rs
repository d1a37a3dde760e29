//! Addresses that a browser may open.

use std::net::IpAddr;

use url::{Host, Url};

/// Returns the URL of the page to open, given as a URL or a domain.
///
/// # Errors
/// Describes the accepted values if the address is none of them.
pub fn checked(text: &str, private: bool) -> Result<Url, &'static str> {
    const EXPECTED: &str = "a domain such as example.com, or a URL that begins with http:// or https://";
    let text = text.trim();
    let whole = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
    let url = Url::parse(&whole).map_err(|_| EXPECTED)?;
    let has_user = !url.username().is_empty() || url.password().is_some();
    if !matches!(url.scheme(), "http" | "https") || text.contains(char::is_whitespace) || has_user {
        return Err(EXPECTED);
    }
    let is_private = match url.host() {
        None => return Err(EXPECTED),
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            !name.contains('.') || name.ends_with(".localhost") || name.ends_with(".local")
        }
        Some(Host::Ipv4(ip)) => is_private(IpAddr::V4(ip)),
        Some(Host::Ipv6(ip)) => is_private(IpAddr::V6(ip)),
    };
    if is_private && !private {
        return Err("the address of a public site; `browser.allow_private` in the settings file allows others");
    }
    Ok(url)
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
