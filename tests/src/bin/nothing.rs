//! An empty program: the floor for whole-process times.

fn main() {}
