//! The one way out of the process: whom it may call, an HTTP client within limits of time and size, and a producer of Kafka records.
//! What a request means, and what a refusal is called in a standard, is the caller's.
//!
//! Invariants:
//! - a connection goes only to an address that the [`Policy`] allows: names are checked when they are resolved, and the client
//!   connects to exactly the addresses that were checked, whatever the name says a moment later;
//! - each redirect is checked as the first URL is;
//! - proxies of the environment are not used.
//!
//! ```
//! use egress::{Others, Policy};
//!
//! let policy = Policy { allowed: vec!["10.1.0.0/16".parse()?], denied: vec![], others: Others::Public };
//! assert!(policy.check_url("https://10.1.2.3/hook").is_ok());
//! assert!(policy.check_url("https://192.168.1.1/hook").is_err());
//! # Ok::<(), egress::TargetError>(())
//! ```

mod addresses;
mod error;
mod policy;
mod resolver;
mod client;
mod kafka;

pub use addresses::is_public_address;
pub use client::{Answer, Client, ClientOptions, Redirects, Request};
pub use error::Error;
pub use kafka::{
    KAFKA_RECORD_BYTES_MAX, KafkaLogin, KafkaOptions, KafkaProducer, KafkaRecord, KafkaTls, SaslMechanism,
};
pub use policy::{Others, Policy, Target, TargetError, check_http_url};
pub use resolver::Names;
