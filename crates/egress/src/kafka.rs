//! A producer of Kafka records: connected when it is first needed, idempotent, with an acknowledgement of all replicas for each
//! record. Brokers are named by whoever runs the process, not by its clients: no policy of addresses applies.

use std::time::Duration;

use bytes::Bytes;
use krafka::auth::{AuthConfig, TlsConfig};
use krafka::error::KrafkaError;
use krafka::producer::{Acks, Producer};
use krafka::{Kafka, Record};
use tokio::sync::OnceCell;
use tokio::time::timeout;

use crate::Error;

/// The longest that connecting to one broker may take, TLS included.
const CONNECT_DURATION_MAX: Duration = Duration::from_secs(10);
/// The largest request for a broker. Kafka itself takes records of 1 MiB unless it is told otherwise.
const REQUEST_BYTES_MAX: usize = 1 << 20;
/// What a header and a record cost beside their bytes, at most.
const RECORD_OVERHEAD_BYTES: usize = 1024;
/// The largest record: key, value and headers.
pub const KAFKA_RECORD_BYTES_MAX: usize = REQUEST_BYTES_MAX - RECORD_OVERHEAD_BYTES;
/// Memory for records that wait to be acknowledged.
const BUFFER_BYTES_MAX: usize = 32 << 20;

/// How brokers are reached.
#[derive(Clone)]
pub struct KafkaOptions {
    /// `host:port`, with commas between; one that answers tells the others.
    pub brokers: String,
    /// Named in each request, for the logs of brokers.
    pub client_id: String,
    /// Encrypted or not.
    pub tls: KafkaTls,
    /// Who logs in, if brokers ask.
    pub login: Option<KafkaLogin>,
    /// The longest that a record may take to be acknowledged; connecting counts.
    pub duration_max: Duration,
}

/// Whether a connection to a broker is encrypted.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum KafkaTls {
    /// It is not.
    Off,
    /// It is, and the broker's certificate is checked against these roots (PEM).
    Roots(Bytes),
}

/// A name and a password, told by a SASL mechanism.
#[derive(Clone)]
pub struct KafkaLogin {
    /// How.
    pub mechanism: SaslMechanism,
    /// Who.
    pub user: String,
    /// The password; never logged.
    pub password: String,
}

/// How a login is told.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SaslMechanism {
    /// `PLAIN`: the password as it is; for encrypted connections.
    Plain,
    /// `SCRAM-SHA-256`.
    ScramSha256,
    /// `SCRAM-SHA-512`.
    ScramSha512,
}

/// One record.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KafkaRecord {
    /// Which must be there, or be made by the broker.
    pub topic: String,
    /// Records of one key go to one partition, and stay in order.
    pub key: Bytes,
    /// Names and values.
    pub headers: Vec<(&'static str, String)>,
    /// What it says.
    pub value: Bytes,
}

/// Sends records; connects with the first.
pub struct KafkaProducer {
    options: KafkaOptions,
    producer: OnceCell<Producer>,
}

impl std::fmt::Debug for KafkaProducer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("KafkaProducer")
            .field("brokers", &self.options.brokers)
            .finish_non_exhaustive()
    }
}

impl KafkaProducer {
    /// A producer, not connected yet. The process has chosen its TLS provider before.
    pub fn new(options: KafkaOptions) -> Self {
        Self { options, producer: OnceCell::new() }
    }

    /// Sends records one after the other, and waits until all replicas that are in sync have each. Cost: one round trip to the
    /// broker of each partition, if it is connected already. Those that were sent before a failure may be there twice when all are sent again; the
    /// broker drops doubles of its own connection alone.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] for a record beyond [`KAFKA_RECORD_BYTES_MAX`], and nothing is sent then; [`Error::Invalid`] for settings
    /// that cannot work; [`Error::TimedOut`]; [`Error::Failed`] with what the broker or the network says.
    pub async fn send(&self, records: Vec<KafkaRecord>) -> Result<(), Error> {
        if records.iter().any(|record| bytes_of(record) > KAFKA_RECORD_BYTES_MAX) {
            return Err(Error::TooLarge(KAFKA_RECORD_BYTES_MAX));
        }
        let sent = timeout(self.options.duration_max, self.send_all(records)).await;
        sent.unwrap_or(Err(Error::TimedOut(self.options.duration_max)))
    }

    /// Queues all, so that they travel together, then waits for each.
    async fn send_all(&self, records: Vec<KafkaRecord>) -> Result<(), Error> {
        let producer = self.producer.get_or_try_init(|| self.connect()).await?;
        let mut acknowledgements = Vec::with_capacity(records.len());
        for record in records {
            let queued = producer.enqueue(record_of(record)).await;
            acknowledgements.push(queued.map_err(|error| failure(&error))?);
        }
        for acknowledgement in acknowledgements {
            let _place_in_the_log = acknowledgement.await.map_err(|error| failure(&error))?;
        }
        Ok(())
    }

    async fn connect(&self) -> Result<Producer, Error> {
        let KafkaOptions { brokers, client_id, duration_max, .. } = &self.options;
        let kafka = Kafka::builder(brokers)
            .client_id(client_id)
            .security(self.security())
            .connect_timeout(CONNECT_DURATION_MAX.min(*duration_max))
            .request_timeout(*duration_max)
            .allow_auto_create_topics(true);
        let kafka = kafka.connect().await.map_err(|error| failure(&error))?;
        let producer = kafka
            .producer()
            .acks(Acks::All)
            .idempotent(true)
            .linger(Duration::ZERO)
            .max_block(*duration_max)
            .delivery_timeout(*duration_max)
            .max_request_size(REQUEST_BYTES_MAX)
            .buffer_memory(BUFFER_BYTES_MAX);
        producer.build().await.map_err(|error| failure(&error))
    }

    fn security(&self) -> AuthConfig {
        let tls = match &self.options.tls {
            KafkaTls::Off => None,
            KafkaTls::Roots(pem) => Some(TlsConfig::new().with_ca_cert_pem(pem.to_vec())),
        };
        let Some(KafkaLogin { mechanism, user, password }) = &self.options.login else {
            return tls.map_or_else(AuthConfig::plaintext, AuthConfig::ssl);
        };
        let login = match mechanism {
            SaslMechanism::Plain => AuthConfig::sasl_plain(user, password),
            SaslMechanism::ScramSha256 => AuthConfig::sasl_scram_sha256(user, password),
            SaslMechanism::ScramSha512 => AuthConfig::sasl_scram_sha512(user, password),
        };
        match tls {
            Some(tls) => login.with_tls(tls),
            None => login,
        }
    }
}

fn bytes_of(record: &KafkaRecord) -> usize {
    let headers = record.headers.iter().map(|(name, value)| name.len() + value.len());
    headers.fold(record.key.len() + record.value.len(), usize::saturating_add)
}

fn record_of(record: KafkaRecord) -> Record {
    let KafkaRecord { topic, key, headers, value } = record;
    let record = Record::new(topic, value).key(key);
    headers.into_iter().fold(record, |record, (name, value)| record.header(name, value))
}

fn failure(error: &KrafkaError) -> Error {
    match error {
        KrafkaError::Config { message } => Error::Invalid(message.clone()),
        error => Error::Failed(error.to_string()),
    }
}

#[cfg(test)]
mod tests;
