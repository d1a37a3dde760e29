//! Event subscriptions: `events.subscribe` and `events.unsubscribe`.

use std::time::Duration;

use afd_proto::events::{Message, MessageWithCursor, NOTIFICATION, SubscribeParams, UNSUBSCRIBE};
use jsonrpsee::SubscriptionSink;
use jsonrpsee::core::to_json_raw_value;
use tokio::sync::broadcast::{Receiver, error::RecvError};

use super::register::{Module, to_rpc};
use crate::app::events;
use afd_store::Store;

/// Delay before a failed read of past events is retried. Without a retry, the subscriber would wait forever.
const RETRY_DELAY: Duration = Duration::from_secs(1);

pub(super) fn register(module: &mut Module) {
    let registered = module.register_subscription(
        "events.subscribe",
        NOTIFICATION,
        UNSUBSCRIBE,
        |params, pending, core, _| async move {
            let params = match crate::app::decode::<SubscribeParams>(params.as_str()) {
                Ok(params) => params,
                Err(error) => return pending.reject(to_rpc(error)).await,
            };
            let live = events::listen(&core.live);
            if let Ok(sink) = pending.accept().await {
                // `forward` returns when the subscriber is gone.
                let _ = forward(&core.store, &sink, live, &params).await;
            }
        },
    );
    if let Err(error) = registered {
        tracing::error!(%error, "cannot register events.subscribe");
    }
}

/// Sends past events (if `since` is given), then live events, until the subscriber is gone.
async fn forward(
    store: &Store,
    sink: &SubscriptionSink,
    mut live: Receiver<Message>,
    params: &SubscribeParams,
) -> Option<()> {
    // Events are published after their commit and in commit order. Live events are therefore newer than all past
    // events, and a subscriber's cursor only grows.
    let mut last = params.since.unwrap_or(i64::MIN);
    while params.since.is_some() {
        let page = match events::past(store, params, last).await {
            Ok(page) => page,
            Err(error) => {
                tracing::warn!(%error, "cannot read past events; retrying");
                tokio::select! {
                    () = tokio::time::sleep(RETRY_DELAY) => continue,
                    () = sink.closed() => return None,
                }
            }
        };
        if page.is_empty() {
            break;
        }
        for event in page {
            last = event.cursor;
            send(sink, Message::Event(Box::new(event)), None).await?;
        }
    }
    let mut cursor = last.max(0);
    loop {
        let message = tokio::select! {
            message = live.recv() => message,
            () = sink.closed() => return None,
        };
        match message {
            // This event was already sent as a past event.
            Ok(Message::Event(event)) if event.cursor <= last => {}
            Ok(Message::Event(event)) => {
                cursor = event.cursor;
                let message = Message::Event(event);
                if events::wanted(&message, params) {
                    send(sink, message, None).await?;
                }
            }
            Ok(message) if events::wanted(&message, params) => send(sink, message, Some(cursor)).await?,
            Ok(_) => {}
            Err(RecvError::Lagged(missed)) => send(sink, Message::Lagged { missed }, Some(cursor)).await?,
            Err(RecvError::Closed) => return None,
        }
    }
}

async fn send(sink: &SubscriptionSink, message: Message, cursor: Option<i64>) -> Option<()> {
    let json = to_json_raw_value(&MessageWithCursor { cursor, message }).ok()?;
    sink.send(json).await.ok()
}
