//! The command line of `afd`: a short-lived program on a blocking Unix stream, without an async runtime.
//!
//! [`cli`] says what can be typed; the files under [`commands`] turn it into calls; [`connection`] carries them; [`spawn`]
//! starts the daemon when none runs; [`output`] prints the answer; [`demo`] plays the tour.

pub mod cli;
pub mod commands;
pub mod connection;
pub mod demo;
pub mod follow;
pub mod human;
pub mod output;
pub mod run;
pub mod spawn;
