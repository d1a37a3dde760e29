//! An empty program: the baseline for whole-process times.

fn main() {}
