//! Listeners on loopback: the service, the control interface, and the phone's end of a cable.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::{Phone, Setup, control, http};

/// A phone shared by its two listeners.
pub type Shared = Arc<Mutex<Phone>>;

/// Locks the phone; a panic of another holder does not matter to a simulator.
pub fn lock(phone: &Shared) -> std::sync::MutexGuard<'_, Phone> {
    phone.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A phone that is being served; it stops when this is dropped.
pub struct Running {
    /// The phone itself.
    pub phone: Shared,
    /// Where the service listens.
    pub service: SocketAddr,
    /// Where the control interface listens.
    pub control: SocketAddr,
    tasks: [JoinHandle<()>; 2],
    cable: Option<JoinHandle<()>>,
}

impl Running {
    /// Base URL of the service.
    pub fn url(&self) -> String {
        format!("http://{}", self.service)
    }

    /// Plugs a cable in, for `adb connect`; 0 picks a free port.
    ///
    /// # Errors
    /// When the port cannot be bound.
    pub async fn plug_in(&mut self, port: u16) -> io::Result<SocketAddr> {
        self.unplug();
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let address = listener.local_addr()?;
        self.cable = Some(tokio::spawn(crate::adbd::serve(listener, self.phone.clone())));
        Ok(address)
    }

    /// Ends what is served; returns when no connection is left that could still answer.
    pub async fn stop(mut self) {
        self.unplug();
        for task in &mut self.tasks {
            task.abort();
            let _ = task.await;
        }
        // Connections are ended by then, and gone after a moment.
        for _ in 0..100_000 {
            if Arc::strong_count(&self.phone) == 1 {
                return;
            }
            tokio::task::yield_now().await;
        }
    }

    /// Takes the cable out; connections over it end.
    pub fn unplug(&mut self) {
        if let Some(cable) = self.cable.take() {
            cable.abort();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
        self.unplug();
    }
}

/// Serves a phone on two loopback ports; 0 picks free ones.
///
/// # Errors
/// When a port cannot be bound.
pub async fn start(setup: Setup, port: u16, control_port: u16) -> io::Result<Running> {
    let phone = Arc::new(Mutex::new(Phone::new(setup)));
    let service = TcpListener::bind(("127.0.0.1", port)).await?;
    let control = TcpListener::bind(("127.0.0.1", control_port)).await?;
    let (service_addr, control_addr) = (service.local_addr()?, control.local_addr()?);
    let tasks = [tokio::spawn(serve(service, phone.clone(), false)), tokio::spawn(serve(control, phone.clone(), true))];
    lock(&phone).hint = Some(crate::phone::Hint::new(service_addr.port()));
    Ok(Running { phone, service: service_addr, control: control_addr, tasks, cable: None })
}

async fn serve(listener: TcpListener, phone: Shared, is_control: bool) {
    let mut connections = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                connections.spawn(connection(stream, phone.clone(), is_control));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connection(stream: TcpStream, phone: Shared, is_control: bool) {
    // Small answers must not wait for the delayed acknowledgement of the ones before.
    let _ = stream.set_nodelay(true);
    let cut = Cut::default();
    let io = TokioIo::new(Tampered { stream, cut: cut.clone() });
    let service = service_fn(move |request| {
        let (phone, cut) = (phone.clone(), cut.clone());
        async move {
            let response = if is_control { control::handle(&phone, request).await } else { http::handle(&phone, &cut, request).await };
            Ok::<_, std::convert::Infallible>(response)
        }
    });
    // A client that goes away, or a cut that was asked for, ends the connection with an error that nobody needs.
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(io, service).await;
}

/// How the next bytes of a connection are to be spoiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spoil {
    /// Nothing is sent.
    Drop,
    /// Something that is no HTTP is sent.
    Garbage,
    /// Half of the bytes are sent.
    Half,
}

/// Shared by a connection and its handler.
#[derive(Debug, Clone, Default)]
pub struct Cut(Arc<Mutex<Option<Spoil>>>);

impl Cut {
    /// Spoils what this connection sends next, and ends it.
    pub fn spoil(&self, how: Spoil) {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(how);
    }

    fn get(&self) -> Option<Spoil> {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

struct Tampered {
    stream: TcpStream,
    cut: Cut,
}

impl AsyncRead for Tampered {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Tampered {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let spoiled = |result: Poll<io::Result<usize>>| match result {
            Poll::Pending => Poll::Pending,
            Poll::Ready(_) => Poll::Ready(Err(io::ErrorKind::ConnectionReset.into())),
        };
        match self.cut.get() {
            None => Pin::new(&mut self.stream).poll_write(cx, buf),
            Some(Spoil::Drop) => Poll::Ready(Err(io::ErrorKind::ConnectionReset.into())),
            Some(Spoil::Garbage) => spoiled(Pin::new(&mut self.stream).poll_write(cx, b"\x00\x7fELF? no HTTP here\r\n\r\n")),
            Some(Spoil::Half) => spoiled(Pin::new(&mut self.stream).poll_write(cx, &buf[..buf.len() / 2])),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
