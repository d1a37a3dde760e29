//! `recall.used`: records whether a recalled entry held when it was used.

use afd_proto::recall::{RecallEntry, RecallUsed, RecallUsedParams};
use serde_json::json;

use super::search::no_entry;
use super::show;
use crate::app::checks::check_session;
use crate::app::{Error, Methods, Result};
use afd_recall::{entries, memories};
use afd_store::Store;
use afd_workspace::{self as session, patterns};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<RecallUsed, _, _>(|core, p| async move { used(&core.store, &p).await });
}

/// Implements `recall.used`.
///
/// # Errors
/// `NOT_FOUND` if there is no such entry that the session may see, `INVALID_PARAMS` if using entries of its type does
/// not change their confidence.
pub async fn used(store: &Store, params: &RecallUsedParams) -> Result<RecallEntry> {
    let name = params.session().to_owned();
    check_session(&name)?;
    let (uid, held) = (params.uid.clone(), params.held);
    let recorded = store.write_or_refuse(move |c| {
        let asking = session::find(c, &name)?;
        let source = entries::find(c, &uid)?.ok_or_else(|| no_entry(&uid))?;
        show::told(c, &source, asking)?.ok_or_else(|| no_entry(&uid))?;
        match source.kind.as_str() {
            "pattern" => drop(patterns::used(c, source.row, held)?),
            "memory" => drop(memories::used(c, &uid, held)?),
            kind => {
                return Err(Error::param(
                    "uid",
                    "a pattern, or an entry that `recall.store` stored",
                    format!("a {kind}"),
                )
                .details(json!({"uid": uid, "kind": kind})));
            }
        }
        show::told(c, &source, asking)?.ok_or_else(|| no_entry(&uid))
    });
    recorded.await
}
