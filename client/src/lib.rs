//! The command line of `afd`: a short-lived program on a blocking Unix stream, without an async runtime.
//!
//! [`cli`] says what can be typed; the files under [`commands`] turn it into calls; [`connection`] carries them; [`spawn`]
//! starts the daemon when none runs and [`dial`] reaches it, [`trust`] makes sure that it is the caller's; [`outcome`] is what
//! came of it, [`output`] and [`human`] print it, [`safe`] keeps it from steering a terminal; [`demo`] plays the tour.

pub mod cli;
pub mod commands;
pub mod connection;
pub mod demo;
pub mod dial;
pub mod follow;
pub mod human;
pub mod outcome;
pub mod output;
pub mod run;
pub mod safe;
pub mod spawn;
pub mod trust;
