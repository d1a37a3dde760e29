//! Handlers of the `session.*` methods.

use afd_proto::coverage::SessionCoverage;
use afd_proto::findings::{
    BugAdd, BugList, BugReopen, BugResolve, BugShow, BugUpdate, ResultAdd, ResultList, TestedMark,
};
use afd_proto::progress::{SessionProgress, SessionResume};
use afd_proto::session::{
    SessionDelete, SessionEnd, SessionList, SessionReport, SessionShow, SessionStart, SessionUpdate,
};
use afd_proto::tasks::{TaskAdd, TaskFinish, TaskList, TaskStart, TaskUpdate};

use afd_proto::transfer::{SessionExport, SessionImport};

use super::register::{Module, method};
use crate::control::session::{coverage, edit, export, findings, import, lifecycle, progress, report, resume, tasks};

pub(super) fn register(module: &mut Module) {
    method::<SessionStart, _, _>(module, |core, p| async move { lifecycle::start(&core, &p).await });
    method::<SessionList, _, _>(module, |core, p| async move { lifecycle::list(&core.store, &p).await });
    method::<SessionShow, _, _>(module, |core, p| async move { lifecycle::show(&core, &p).await });
    method::<SessionEnd, _, _>(module, |core, p| async move { lifecycle::end(&core, &p).await });
    method::<SessionProgress, _, _>(module, |core, p| async move { progress::progress(&core, &p).await });
    method::<SessionResume, _, _>(module, |core, p| async move { resume::resume(&core, &p).await });
    method::<SessionReport, _, _>(module, |core, p| async move { report::report(&core, &p).await });
    method::<SessionExport, _, _>(module, |core, p| async move { export::export(&core, &p).await });
    method::<SessionUpdate, _, _>(module, |core, p| async move { edit::update(&core, &p).await });
    method::<SessionDelete, _, _>(module, |core, p| async move { edit::delete(&core, &p).await });
    method::<SessionImport, _, _>(module, |core, p| async move { import::import(&core, &p).await });
    method::<SessionCoverage, _, _>(module, |core, p| async move { coverage::coverage(&core, &p).await });
    method::<TaskAdd, _, _>(module, |core, p| async move { tasks::add(&core, &p).await });
    method::<TaskStart, _, _>(module, |core, p| async move { tasks::start(&core, &p).await });
    method::<TaskUpdate, _, _>(module, |core, p| async move { tasks::update(&core, &p).await });
    method::<TaskFinish, _, _>(module, |core, p| async move { tasks::finish(&core, &p).await });
    method::<TaskList, _, _>(module, |core, p| async move { tasks::list(&core, &p).await });
    method::<BugAdd, _, _>(module, |core, p| async move { findings::add_bug(&core, &p).await });
    method::<BugList, _, _>(module, |core, p| async move { findings::list_bugs(&core, &p).await });
    method::<BugShow, _, _>(module, |core, p| async move { findings::show_bug(&core.store, &p).await });
    method::<BugResolve, _, _>(module, |core, p| async move { findings::resolve_bug(&core, &p).await });
    method::<BugUpdate, _, _>(module, |core, p| async move { findings::update_bug(&core, &p).await });
    method::<BugReopen, _, _>(module, |core, p| async move { findings::reopen_bug(&core, &p).await });
    method::<ResultAdd, _, _>(module, |core, p| async move { findings::add_result(&core, &p).await });
    method::<ResultList, _, _>(module, |core, p| async move { findings::list_results(&core, &p).await });
    method::<TestedMark, _, _>(module, |core, p| async move { coverage::mark(&core, &p).await });
}
