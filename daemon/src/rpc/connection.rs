//! A connection that carries many messages, from its first to its last.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use afd_proto::ErrorCode;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use jsonrpsee::core::server::BoundedSubscriptions;
use jsonrpsee::types::Id;
use jsonrpsee::{ConnectionId, MethodSink, Methods};
use serde_json::value::RawValue;
use tokio::sync::{mpsc, watch};

use super::codec::{Incoming, Transport};
use super::dispatch::{self, Caller};
use super::register::to_rpc;
use crate::config::Limits;
use crate::control::Error;

/// How many notifications of subscriptions wait for the connection.
const SINK: usize = 256;

/// What every connection needs.
#[derive(Clone)]
pub(super) struct Context {
    pub methods: Methods,
    pub limits: Limits,
    pub stopping: watch::Receiver<bool>,
    pub id: ConnectionId,
}

impl Context {
    pub(super) fn stall(&self) -> Duration {
        Duration::from_millis(self.limits.half_frame_ms)
    }
}

/// Ends when the daemon is to stop.
pub(super) async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // Without a sender there is no daemon any more.
    let _ = stopping.wait_for(|stop| *stop).await;
}

/// Runs a connection. Requests are read only while fewer than the limit are in flight, so that a client that asks faster
/// than it is answered waits, and costs nothing. Calls begin in the order in which they came.
pub(super) async fn run(mut transport: impl Transport, context: Context) {
    let mut stopping = context.stopping.clone();
    let mut stop = std::pin::pin!(stopped(&mut stopping));
    let (sender, mut notifications) = mpsc::channel::<Box<RawValue>>(SINK);
    let bound = Arc::new(BoundedSubscriptions::new(context.limits.subscriptions));
    let caller = Caller {
        methods: context.methods.clone(),
        connection: context.id,
        batch: context.limits.batch,
        sink: Some((MethodSink::new(sender), bound)),
    };
    let mut calls = FuturesUnordered::new();
    let mut reading = !*context.stopping.borrow();
    let mut refused = false;
    loop {
        if !reading && calls.is_empty() {
            break;
        }
        let step = tokio::select! {
            // Answers first: what is done is told before more is begun.
            biased;
            Some(answer) = calls.next(), if !calls.is_empty() => {
                let answer: Option<String> = answer;
                match answer {
                    Some(text) => send(&mut transport, &text, context.stall()).await,
                    None => Ok(()),
                }
            }
            Some(notification) = notifications.recv() => send(&mut transport, notification.get(), context.stall()).await,
            incoming = transport.next(), if reading && calls.len() < context.limits.in_flight => {
                match incoming {
                    Incoming::Message(bytes) => calls.push(dispatch::message(caller.clone(), bytes)),
                    Incoming::End => reading = false,
                    Incoming::Refused(why) => {
                        (reading, refused) = (false, true);
                        tell(&mut transport, to_rpc(Error::new(ErrorCode::LimitExceeded, why)), context.stall()).await;
                    }
                    Incoming::Stalled => {
                        (reading, refused) = (false, true);
                        let why = format!("a message was begun and not finished within {} ms", context.limits.half_frame_ms);
                        tell(&mut transport, to_rpc(Error::new(ErrorCode::Timeout, why)), context.stall()).await;
                    }
                }
                Ok(())
            }
            () = stop.as_mut(), if reading => {
                reading = false;
                Ok(())
            }
        };
        if step.is_err() {
            return;
        }
    }
    // What subscriptions said before the end is still told.
    while let Ok(notification) = notifications.try_recv() {
        if send(&mut transport, notification.get(), context.stall()).await.is_err() {
            return;
        }
    }
    transport.close(refused).await;
}

async fn send(transport: &mut impl Transport, text: &str, within: Duration) -> io::Result<()> {
    match tokio::time::timeout(within, transport.send(text)).await {
        Ok(sent) => sent,
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    }
}

async fn tell(transport: &mut impl Transport, error: jsonrpsee::types::ErrorObjectOwned, within: Duration) {
    let answer = dispatch::fault(Id::Null, error).into_json();
    let _ = send(transport, answer.get(), within).await;
}
