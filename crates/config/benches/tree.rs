//! What reading and changing a tree of 86,001 entries costs.

fn main() {}
