//! `events.*`

use afd_proto::events::{Message, NOTIFICATION, SubscribeParams, UNSUBSCRIBE};
use jsonrpsee::SubscriptionSink;
use jsonrpsee::core::to_json_raw_value;
use tokio::sync::broadcast::error::RecvError;

use super::params;
use super::register::{Module, to_rpc};
use crate::control::events::{self, Stream};

pub(super) fn register(module: &mut Module) {
    let registered = module.register_subscription("events.subscribe", NOTIFICATION, UNSUBSCRIBE, |params, pending, core, _| async move {
        let params = match params::decode::<SubscribeParams>(params.as_str()) {
            Ok(params) => params,
            Err(error) => return pending.reject(to_rpc(error)).await,
        };
        let stream = match events::subscribe(&core, &params).await {
            Ok(stream) => stream,
            Err(error) => return pending.reject(to_rpc(error)).await,
        };
        if let Ok(sink) = pending.accept().await {
            // Ends when the subscriber does.
            let _ = follow(&sink, stream, &params).await;
        }
    });
    if let Err(error) = registered {
        tracing::error!(%error, "cannot register events.subscribe");
    }
}

/// Sends until the subscriber is gone.
async fn follow(sink: &SubscriptionSink, stream: Stream, params: &SubscribeParams) -> Option<()> {
    let mut last = 0;
    for event in stream.past {
        last = event.seq;
        send(sink, &Message::Event(Box::new(event))).await?;
    }
    let mut coming = stream.coming;
    loop {
        let message = tokio::select! {
            message = coming.recv() => message,
            () = sink.closed() => return None,
        };
        match message {
            // The past may have held it already.
            Ok(Message::Event(event)) if event.seq <= last => {}
            Ok(message) if events::wanted(&message, params) => send(sink, &message).await?,
            Ok(_) => {}
            Err(RecvError::Lagged(missed)) => send(sink, &Message::Lagged { missed }).await?,
            Err(RecvError::Closed) => return None,
        }
    }
}

async fn send(sink: &SubscriptionSink, message: &Message) -> Option<()> {
    let json = to_json_raw_value(message).ok()?;
    sink.send(json).await.ok()
}
