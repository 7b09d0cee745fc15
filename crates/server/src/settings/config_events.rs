//! Who is told of changes of configuration, and how.

use std::path::PathBuf;
use std::str::FromStr;

use clap::ValueEnum;

use crate::units::{ByteCount, Span, Switch};

use super::auth::Secret;
use super::table::{Field, Table, above_zero, at_least_one, settings_table};

settings_table! {
    /// Who is told of changes of configuration, and how.
    pub(crate) struct ConfigEvents, table "config_events", flags "config_event_", heading "Configuration events" {
        /// Kafka brokers that change events are sent to, `host:port` with commas between; none: no Kafka
        kafka: String = "", "BROKERS";

        /// The topic that they go to
        kafka_topic: String = "cps-data-updated-events", "TOPIC";

        /// Whether connections to brokers are encrypted; then `config_event_kafka_roots` are trusted
        kafka_tls: Switch = "off", "WHETHER";

        /// Certificates (PEM) of authorities that brokers' certificates are checked against
        kafka_roots: PathBuf = none, "FILE";

        /// Who logs in at the brokers
        kafka_user: String = "", "USER";

        /// The password of that user; better in a variable or the file than here
        kafka_password: Secret = none, "PASSWORD";

        /// How the password is told: `plain`, `scram-sha-256` or `scram-sha-512`
        kafka_login: KafkaLoginKind = "scram-sha-512", "HOW";

        /// URLs that change events are posted to as CloudEvents, with blanks between
        hooks: HookUrls = "", "URLS";

        /// Whether events say what was there before, and what is there now
        data: Switch = "off", "WHETHER";

        /// The most bytes of that in one event (up to 448KiB); one that would have more has none
        data_bytes_max: ByteCount = "256KiB", "SIZE";

        /// How long a receiver may take to accept events
        duration_max: Span = "30s", "SPAN";

        /// The longest pause before a receiver that failed is tried again
        pause_max: Span = "5m", "SPAN";

        /// The most events sent at once
        changes_max: usize = "100", "COUNT";

        /// The most events of one receiver in its outbox; newer ones are lost, and counted
        outbox_changes_max: usize = "1000000", "COUNT";

        /// The most bytes of events in the outbox of one receiver; newer ones are lost, and counted
        outbox_bytes_max: ByteCount = "1GiB", "SIZE";
    }
}

/// Texts of JSON grow to twice their size when they become part of an event, and an event must be a record that brokers take.
const DATA_BYTES_MAX: usize = 448 << 10;
/// What an event has beside its data.
const EVENT_BYTES: usize = 64 << 10;
const _: () = assert!(2 * DATA_BYTES_MAX + EVENT_BYTES <= egress::KAFKA_RECORD_BYTES_MAX);

/// How a password is told to brokers.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum KafkaLoginKind {
    /// As it is; for encrypted connections.
    Plain,
    /// SCRAM with SHA-256.
    #[value(name = "scram-sha-256")]
    ScramSha256,
    /// SCRAM with SHA-512.
    #[value(name = "scram-sha-512")]
    ScramSha512,
}

/// URLs with blanks between.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct HookUrls(pub(crate) Vec<String>);

impl FromStr for HookUrls {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut urls: Vec<String> = Vec::new();
        for url in text.split_whitespace() {
            egress::check_http_url(url).map_err(|error| error.to_string())?;
            if urls.iter().any(|known| known == url) {
                return Err(format!("{url} is there twice"));
            }
            urls.push(url.to_owned());
        }
        Ok(Self(urls))
    }
}

impl std::fmt::Display for HookUrls {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0.join(" "))
    }
}

impl ConfigEvents {
    /// Whether there is anybody to tell.
    pub(crate) fn has_receivers(&self) -> bool {
        !self.kafka.is_empty() || !self.hooks.0.is_empty()
    }

    /// The most data of one event, if they have any.
    pub(crate) fn data_max(&self) -> Option<usize> {
        (self.data == Switch::On).then(|| self.data_bytes_max.as_usize())
    }

    /// Checks the values, and that they fit together.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.kafka.is_empty() || !self.kafka_topic.is_empty(),
            "config_event_kafka_topic is empty"
        );
        anyhow::ensure!(
            (self.kafka_tls == Switch::On) == self.kafka_roots.is_some(),
            "config_event_kafka_tls and config_event_kafka_roots belong together: one of them is missing"
        );
        anyhow::ensure!(
            self.kafka_user.is_empty() == self.kafka_password.is_none(),
            "config_event_kafka_user and config_event_kafka_password belong together: one of them is missing"
        );
        let is_plain = self.kafka_login == KafkaLoginKind::Plain && !self.kafka_user.is_empty();
        anyhow::ensure!(
            !is_plain || self.kafka_tls == Switch::On,
            "config_event_kafka_login is plain, and config_event_kafka_tls is off: anybody on the way could read the password"
        );
        anyhow::ensure!(
            self.data_bytes_max.as_usize() <= DATA_BYTES_MAX,
            "config_event_data_bytes_max must be at most {}KiB: larger events would be no records that brokers take",
            DATA_BYTES_MAX >> 10
        );
        at_least_one(&[
            ("config_event_data_bytes_max", self.data_bytes_max.as_usize()),
            ("config_event_changes_max", self.changes_max),
            ("config_event_outbox_changes_max", self.outbox_changes_max),
            ("config_event_outbox_bytes_max", self.outbox_bytes_max.as_usize()),
        ])?;
        above_zero(&[
            ("config_event_duration_max", self.duration_max),
            ("config_event_pause_max", self.pause_max),
        ])
    }
}
