//! Options for `act undo` and `undo`.

use afd_proto::undo::ActUndoParams;
use clap::Args;

use super::Key;

/// Options for `undo`.
#[derive(Debug, Args)]
pub struct Undo {
    /// Say only how the action would be undone
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    key: Key,
}

impl Undo {
    pub(super) fn params(self) -> ActUndoParams {
        ActUndoParams {
            dry_run: self.dry_run,
            request_key: self.key.request_key,
            then: self.key.then,
            strict: self.key.strict,
            ..ActUndoParams::default()
        }
    }
}
