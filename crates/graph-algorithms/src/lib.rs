//! Algorithms over a whole graph that lies in memory as lists of neighbours: ranks, components, communities, centralities. Pure
//! arithmetic: no store, no ids but numbers from 0.
