//! Listeners on loopback: the service, the control interface, and the simulated USB connection.

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

/// A phone shared by its listeners.
pub type Shared = Arc<Mutex<Phone>>;

/// Locks the phone. Ignores poisoning, because a panic of another holder does not matter in a simulator.
pub fn lock(phone: &Shared) -> std::sync::MutexGuard<'_, Phone> {
    phone.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A phone that is being served; dropping it stops the listeners.
pub struct Running {
    /// The phone itself.
    pub phone: Shared,
    /// Address of the service.
    pub service: SocketAddr,
    /// Address of the control interface.
    pub control: SocketAddr,
    tasks: [JoinHandle<()>; 2],
    usb: Option<JoinHandle<()>>,
}

impl Running {
    /// Returns the base URL of the service.
    pub fn url(&self) -> String {
        format!("http://{}", self.service)
    }

    /// Simulates attaching USB: listens for `adb connect` on a port and returns the address. 0 picks a free port.
    ///
    /// # Errors
    /// An I/O error if the port cannot be bound.
    pub async fn attach_usb(&mut self, port: u16) -> io::Result<SocketAddr> {
        self.detach_usb();
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let address = listener.local_addr()?;
        self.usb = Some(tokio::spawn(crate::adbd::serve(listener, self.phone.clone())));
        Ok(address)
    }

    /// Stops all listeners and waits until no connection is left that could still send a response.
    pub async fn stop(mut self) {
        self.detach_usb();
        for task in &mut self.tasks {
            task.abort();
            let _ = task.await;
        }
        // The connections are aborted, but their tasks drop the phone only shortly afterwards.
        for _ in 0..100_000 {
            if Arc::strong_count(&self.phone) == 1 {
                return;
            }
            tokio::task::yield_now().await;
        }
    }

    /// Simulates detaching USB: closes the listener and its connections.
    pub fn detach_usb(&mut self) {
        if let Some(usb) = self.usb.take() {
            usb.abort();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
        self.detach_usb();
    }
}

/// Serves a phone on two loopback ports; 0 picks a free one.
///
/// # Errors
/// An I/O error if a port cannot be bound.
pub async fn start(setup: Setup, port: u16, control_port: u16) -> io::Result<Running> {
    let phone = Arc::new(Mutex::new(Phone::new(setup)));
    let service = TcpListener::bind(("127.0.0.1", port)).await?;
    let control = TcpListener::bind(("127.0.0.1", control_port)).await?;
    let (service_addr, control_addr) = (service.local_addr()?, control.local_addr()?);
    let tasks = [tokio::spawn(serve(service, phone.clone(), false)), tokio::spawn(serve(control, phone.clone(), true))];
    lock(&phone).hint = Some(crate::phone::Hint::new(service_addr.port()));
    Ok(Running { phone, service: service_addr, control: control_addr, tasks, usb: None })
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
    // Otherwise a small response would wait for the delayed acknowledgement of the previous one.
    let _ = stream.set_nodelay(true);
    let write_fault = WriteFaultSlot::default();
    let io = TokioIo::new(FaultyStream { stream, write_fault: write_fault.clone() });
    let service = service_fn(move |request| {
        let (phone, write_fault) = (phone.clone(), write_fault.clone());
        async move {
            let response = if is_control {
                control::handle(&phone, request).await
            } else {
                http::handle(&phone, &write_fault, request).await
            };
            Ok::<_, std::convert::Infallible>(response)
        }
    });
    // A client that disconnects and an injected fault both end the connection with an error that can be ignored.
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(io, service).await;
}

/// How the next write of a connection fails; the connection is reset afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteFault {
    /// Nothing is sent.
    Drop,
    /// Bytes that are not HTTP are sent.
    Garbage,
    /// Half of the bytes are sent.
    Half,
}

/// The fault to inject into a connection's writes; shared by the connection and its request handler.
#[derive(Debug, Clone, Default)]
pub struct WriteFaultSlot(Arc<Mutex<Option<WriteFault>>>);

impl WriteFaultSlot {
    /// Makes the next write of this connection fail in this way.
    pub fn inject(&self, how: WriteFault) {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(how);
    }

    fn get(&self) -> Option<WriteFault> {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

struct FaultyStream {
    stream: TcpStream,
    write_fault: WriteFaultSlot,
}

impl AsyncRead for FaultyStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for FaultyStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let then_reset = |result: Poll<io::Result<usize>>| match result {
            Poll::Pending => Poll::Pending,
            Poll::Ready(_) => Poll::Ready(Err(io::ErrorKind::ConnectionReset.into())),
        };
        match self.write_fault.get() {
            None => Pin::new(&mut self.stream).poll_write(cx, buf),
            Some(WriteFault::Drop) => Poll::Ready(Err(io::ErrorKind::ConnectionReset.into())),
            Some(WriteFault::Garbage) => {
                then_reset(Pin::new(&mut self.stream).poll_write(cx, b"\x00\x7fELF? no HTTP here\r\n\r\n"))
            }
            Some(WriteFault::Half) => then_reset(Pin::new(&mut self.stream).poll_write(cx, &buf[..buf.len() / 2])),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
