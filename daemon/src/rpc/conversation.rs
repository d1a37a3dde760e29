//! Handlers of the `conversation.*` methods.

use afd_proto::context::{ConversationContext, ConversationUsage, ConversationWorking};
use afd_proto::conversation::{
    ConversationAppend, ConversationClear, ConversationCompact, ConversationDelete, ConversationList,
    ConversationSearch, ConversationSummary,
};

use super::register::{Module, method};
use crate::control::conversation::{append, compact, context, delete, read};

pub(super) fn register(module: &mut Module) {
    method::<ConversationAppend, _, _>(module, |core, p| async move { append::append(&core, p).await });
    method::<ConversationList, _, _>(module, |core, p| async move { read::list(&core, &p).await });
    method::<ConversationSearch, _, _>(module, |core, p| async move { read::search(&core, &p).await });
    method::<ConversationDelete, _, _>(module, |core, p| async move { delete::message(&core, &p).await });
    method::<ConversationUsage, _, _>(module, |core, p| async move { read::used(&core, &p).await });
    method::<ConversationContext, _, _>(module, |core, p| async move { context::context(&core, &p).await });
    method::<ConversationCompact, _, _>(module, |core, p| async move { compact::compact(&core, &p).await });
    method::<ConversationSummary, _, _>(module, |core, p| async move { read::summary(&core, &p).await });
    method::<ConversationWorking, _, _>(module, |core, p| async move { read::working(&core, &p).await });
    method::<ConversationClear, _, _>(module, |core, p| async move { compact::clear(&core, &p).await });
}
