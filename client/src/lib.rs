//! The command line of `afd`: a short-lived program that uses a blocking Unix stream and no async runtime.
//!
//! * [`cli`] defines the command line, [`commands`] turns it into calls, and [`run`] executes them.
//! * [`output`] prints the result of a command. The crate `afd_link` contains the output formats and the connection to
//!   the daemon.
//! * [`follow`] prints the live event stream, [`demo`] is the guided tour, and [`setup`] adds afd to the configuration
//!   of programs that run agents.

pub mod ask;
pub mod cli;
pub mod commands;
mod completions;
pub mod demo;
pub mod examples;
pub mod follow;
pub mod guess;
pub mod init;
pub mod man;
pub mod output;
pub mod rewrite;
pub mod run;
pub mod setup;
