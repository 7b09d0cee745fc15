//! The graphs of tenants: their directory, schema, writes, reads, queries and tasks, over the store.
