//! Tracks which sessions of HTTP clients are in use. A client counts as gone if it has been silent for [`TIMEOUT`] and
//! has no open response.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Time after which a silent client loses its session and its leases.
const TIMEOUT: Duration = Duration::from_secs(300);

/// The sessions in use, by id.
#[derive(Clone, Default)]
pub struct Uses(Arc<Mutex<HashMap<String, Use>>>);

struct Use {
    /// Number of requests and responses of the session that are open.
    open: usize,
    last: Instant,
}

/// An open request or response, for example an event stream. Dropping this value marks the request or response as
/// ended.
pub struct Open {
    uses: Uses,
    session: String,
}

impl Uses {
    /// Marks a session as in use while a request is handled or a response is sent.
    pub fn begin(&self, session: &str, now: Instant) -> Open {
        if let Ok(mut uses) = self.0.lock() {
            let known = uses.entry(session.to_owned()).or_insert(Use { open: 0, last: now });
            known.open += 1;
            known.last = now;
        }
        Open { uses: self.clone(), session: session.to_owned() }
    }

    /// Removes and returns the sessions that are no longer in use.
    pub fn take_idle(&self, now: Instant) -> Vec<String> {
        let Ok(mut uses) = self.0.lock() else { return Vec::new() };
        let idle = |used: &Use| used.open == 0 && now.duration_since(used.last) >= TIMEOUT;
        uses.extract_if(|_, used| idle(used)).map(|(session, _)| session).collect()
    }

    fn end(&self, session: &str, now: Instant) {
        if let Ok(mut uses) = self.0.lock()
            && let Some(known) = uses.get_mut(session)
        {
            known.open -= 1;
            known.last = now;
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.uses.end(&self.session, Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_with_an_open_stream_is_not_idle() {
        let (uses, start) = (Uses::default(), Instant::now());
        drop(uses.begin("silent", start));
        let stream = uses.begin("streaming", start);
        let later = start + TIMEOUT * 3;
        assert_eq!(uses.take_idle(later), ["silent"]);
        drop(stream);
        assert_eq!(uses.take_idle(Instant::now()), Vec::<String>::new(), "it may have just lost its stream");
        assert_eq!(uses.take_idle(Instant::now() + TIMEOUT), ["streaming"]);
    }
}
