//! Errors from creating drivers and from requests to devices, and the future that drivers return.

use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;

use afd_base::config;
use afd_proto::ErrorCode;

/// Future returned by driver methods.
pub type DriverFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, DriverError>> + Send + 'a>>;

/// The reason why a device does not accept a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadParam {
    /// Path of the parameter, such as `package` or `extras.NAME`.
    pub path: String,
    /// Description of the accepted values.
    pub expected: &'static str,
    /// The received value in quotation marks, or a description of the value.
    pub got: String,
}

/// Error from creating a driver from a device's settings.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The URL is not acceptable as a device URL.
    #[error(transparent)]
    InvalidSetting(#[from] config::InvalidSetting),
    /// The start page of a browser is not acceptable. Holds a description of the accepted addresses.
    #[error("expected {0}")]
    Address(&'static str),
    /// The URL cannot be parsed.
    #[error("{0}")]
    Url(#[from] url::ParseError),
    /// The HTTP client cannot be created.
    #[error("cannot create an HTTP client: {0}")]
    Client(#[from] reqwest::Error),
}

/// The description of an error, with optional advice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Why {
    text: String,
    advice: Option<&'static str>,
}

impl<T: Into<String>> From<T> for Why {
    fn from(text: T) -> Self {
        Self { text: text.into(), advice: None }
    }
}

impl Deref for Why {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Error from a request to a device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DriverError {
    /// The device could not be reached, or did not respond to a read.
    #[error("cannot reach the device: {0}")]
    Unreachable(Why),
    /// The device rejected the token.
    #[error("the device rejected the token: {0}")]
    Auth(Why),
    /// The device responded with an error.
    #[error("the device reported an error: {message}")]
    Refused {
        /// HTTP status of the response, if there was one.
        status: Option<u16>,
        /// Error message from the device.
        message: Why,
    },
    /// The device would have acted on another element than the one that was meant; holds a description of that element.
    #[error("the target is covered by {0}, which would receive the input instead")]
    Covered(String),
    /// The device's response could not be parsed.
    #[error("malformed response from the device: {0}")]
    Protocol(Why),
    /// The action was sent but its response was lost, so it is unknown whether the action happened.
    #[error("the action was sent, but its response was lost: {0}")]
    Lost(String),
    /// The device works, but what was asked for has not answered, so it is unknown what became of it.
    #[error("the action was sent, but it has not been answered: {0}")]
    Unanswered(String),
    /// Devices of this kind do not support the operation.
    #[error("a device of kind {kind} {what}")]
    Unsupported {
        /// Name of the kind of device.
        kind: &'static str,
        /// The missing ability, as the rest of a sentence, such as `has no shell`.
        what: &'static str,
        /// The alternative suggested to the caller.
        instead: &'static str,
    },
    /// The device's queue is full; holds the maximum number of waiting calls.
    #[error("the queue of the device is full ({0} waiting calls)")]
    QueueFull(u64),
    /// The daemon failed to handle the request, for example because the device was removed.
    #[error("{0}")]
    Failed(String),
}

impl DriverError {
    pub(crate) fn removed() -> Self {
        DriverError::Failed("the device was removed".to_owned())
    }

    /// Returns the error code that is sent to clients.
    pub fn code(&self) -> ErrorCode {
        match self {
            DriverError::Unreachable(_) => ErrorCode::DeviceUnreachable,
            DriverError::Auth(_) => ErrorCode::DeviceAuth,
            DriverError::Refused { .. } | DriverError::Protocol(_) => ErrorCode::DeviceError,
            DriverError::Covered(_) => ErrorCode::TargetCovered,
            DriverError::Lost(_) | DriverError::Unanswered(_) => ErrorCode::OutcomeUnknown,
            DriverError::Unsupported { .. } => ErrorCode::Unsupported,
            DriverError::QueueFull(_) => ErrorCode::LimitExceeded,
            DriverError::Failed(_) => ErrorCode::Internal,
        }
    }

    /// Returns advice for the caller on how to proceed.
    pub fn advice(&self) -> &'static str {
        match self {
            DriverError::Unreachable(why) => why.advice.unwrap_or("check that the device is on and can be reached"),
            DriverError::Auth(why) => why.advice.unwrap_or("check the token of the device"),
            DriverError::Refused { message, .. } => message.advice.unwrap_or("observe again"),
            DriverError::Protocol(why) => why.advice.unwrap_or("check that the URL is that of the device"),
            DriverError::Covered(_) => "close what covers it, or wait until it has moved, and observe again",
            DriverError::Lost(_) | DriverError::Unanswered(_) => {
                "it may have taken effect: observe again before deciding whether to repeat it"
            }
            DriverError::Unsupported { instead, .. } => instead,
            DriverError::QueueFull(_) => "wait for responses to pending calls before sending more",
            DriverError::Failed(_) => "try again; `afctl status` shows the devices and the background tasks",
        }
    }

    /// Adds the driver's advice, unless the error already has advice.
    pub(crate) fn advised(mut self, advice: Option<&'static str>) -> Self {
        if let DriverError::Unreachable(why)
        | DriverError::Auth(why)
        | DriverError::Refused { message: why, .. }
        | DriverError::Protocol(why) = &mut self
        {
            why.advice = why.advice.or(advice);
        }
        self
    }
}
