//! `recover.auto`: recovers from the last failure of the session.

use std::sync::Arc;
use std::time::Duration;

use afd_proto::act::ActCall;
use afd_proto::recover::{RecoverAuto, RecoverAutoParams, RecoverAutoResult, RecoverStop};
use afd_proto::vocabulary::Reply;
use afd_proto::{ErrorCode, Method};
use tokio::time::Instant;

use super::trouble::Trouble;
use super::{Bounds, Cure, known};
use crate::app::act::keyed::{Key, Progress, run_once};
use crate::app::act::leased::Leased;
use crate::app::visual::graph::scope_in_front;
use crate::app::{Call, Core, Error, Result, scope};
use afd_experience::memory::failures;

impl Progress for RecoverAutoResult {
    fn without_page(self) -> Self {
        Self { look: None, ..self }
    }

    fn interrupted(self) -> Self {
        Self { stopped: RecoverStop::Interrupted, ..self }
    }

    fn replayed(self) -> Self {
        Self { replayed: true, ..self }
    }
}

/// Implements `recover.auto`.
///
/// # Errors
/// If the app is malformed, or if the device cannot be read before the first action.
pub(in crate::app) async fn auto(core: &Arc<Core>, params: RecoverAutoParams) -> Result<Reply<RecoverAutoResult>> {
    let addressed = core.addressed(&params)?;
    if let Some(app) = &params.app {
        let is_app = addressed.target.device.check_app(app);
        is_app.map_err(|_| Error::param("app", "a package, for example com.android.settings", app))?;
    }
    let key = Key::of(core, RecoverAuto::INFO.name, &params, params.request_key.as_deref())?;
    let running = core.runtime.enter();
    let task = scope::spawn(async move {
        let _running = running;
        let call = addressed.open().await?;
        let result = run_once(&call, key, async |key| run(&call, &params, key.as_ref()).await).await?;
        Ok(call.reply(result))
    });
    match task.await {
        Ok(done) => done,
        Err(failed) => Err(Error::new(ErrorCode::Internal, format!("the recovery was aborted: {failed}"))
            .hint("internal error; `afctl events` shows the actions that were sent")),
    }
}

async fn run(call: &Call, params: &RecoverAutoParams, key: Option<&Key>) -> Result<RecoverAutoResult> {
    let mut leased = Leased::take(call)?;
    let origin = call.origin();
    // This is read before the page, because a look may change where the last action led.
    let (failure, known) = call
        .core
        .store
        .read_all(move |c| {
            let failure = failures::open(c, &origin)?;
            let known = failure.as_ref().map(|failure| known::of(c, failure)).transpose()?;
            Ok((failure, known.unwrap_or_default()))
        })
        .await?;
    let first = call.settled_page().await?;
    // Without a failure, the app in front should stay there.
    let app = params.app.clone().or_else(|| {
        let front = scope_in_front(&first).filter(|_| failure.is_none());
        front.map(|front| front.app)
    });
    let page = failure.as_ref().and_then(|failure| failure.page.as_ref()).map(|page| page.key.clone());
    let trouble = Trouble::of(failure.as_ref(), app, None, page.filter(|key| !key.is_empty()));
    let bounds = Bounds {
        max_steps: params.max_steps() as usize,
        allow_risky: params.allow_risky,
        may_leave: true,
        deadline: Instant::now() + Duration::from_millis(params.timeout_ms()),
    };
    let mut cure = Cure::new(call, trouble, known, bounds, key);
    let ended = cure.run(first, &mut leased).await?;
    let mut result = cure.result(&ended).await;
    let page = ended.page;
    if let (Some(then), Some(page)) = (params.then(), page) {
        result.look = Some(call.look_at_end(page, then, result.duration_ms).await);
    }
    Ok(result)
}
