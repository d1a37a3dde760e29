//! What the error of an action means for a call of several actions.

use afd_proto::ErrorCode;

/// Returns whether a failed action says only that the page has changed since the look, or that the target is elsewhere, so
/// that the call can read the screen again and choose another action.
pub(super) fn is_about_page(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::TargetNotFound
            | ErrorCode::TargetAmbiguous
            | ErrorCode::TargetCovered
            | ErrorCode::RefAliasStale
            | ErrorCode::Timeout
    )
}

/// Returns whether an error shows that nothing was sent to the device.
pub(super) fn is_unsent(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::DeviceUnreachable
            | ErrorCode::DeviceBusy
            | ErrorCode::DeviceAuth
            | ErrorCode::DeviceUnknown
            | ErrorCode::Cancelled
            | ErrorCode::ShuttingDown
            | ErrorCode::StoreFull
            | ErrorCode::StoreUnavailable
    )
}

/// Returns whether an action that failed with this error may be tried again once the device has recovered.
pub(super) fn may_retry(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::TargetNotFound | ErrorCode::TargetCovered | ErrorCode::RefAliasStale)
}
