//! The command line of `afd`: a short-lived program on a blocking Unix stream, without an async runtime.
//!
//! * [`cli`] defines the command line, [`commands`] turns it into calls, and [`run`] executes them.
//! * [`connection`] sends calls, [`dial`] connects to the daemon, [`spawn`] starts it if none is running, and [`trust`]
//!   checks that its socket belongs to the caller.
//! * [`outcome`] is the result of a command; [`output`], [`human`] and [`agent`] print it, and [`safe`] escapes what
//!   could control a terminal.
//! * [`follow`] prints the live event stream; [`demo`] is the guided tour, and [`setup`] adds afd to the configuration
//!   of agents' programs.

pub mod agent;
pub mod ask;
pub mod cli;
pub mod commands;
pub mod connection;
pub mod demo;
pub mod dial;
pub mod examples;
pub mod fnv;
pub mod follow;
pub mod guess;
pub mod human;
pub mod init;
pub mod man;
pub mod options;
pub mod outcome;
pub mod output;
pub mod own_settings;
pub mod request_key;
pub mod rewrite;
pub mod run;
pub mod safe;
pub mod setup;
pub mod spawn;
pub mod trust;
