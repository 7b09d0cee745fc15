//! Walks over a stored graph, each from some vertices on: neighbourhoods, paths, similarities, ranks. They read a graph as it is at one
//! moment, and count what they read.
