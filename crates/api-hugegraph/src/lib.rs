//! The HugeGraph REST API over graphs.
