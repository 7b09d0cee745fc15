//! Where change events of configuration go: a Kafka topic, and URLs.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use api_cps::{EVENTS_MEDIA_TYPE, KafkaEvent, events_body, kafka_event};
use bytes::Bytes;
use delivery::Message;
use egress::{Client, KafkaLogin, KafkaOptions, KafkaProducer, KafkaRecord, KafkaTls, Others, SaslMechanism};
use http::{HeaderMap, HeaderValue, header};
use store::Fingerprint;

use super::sender;
use crate::settings::{KafkaLoginKind, Settings};
use crate::units::Switch;

/// The most bytes of events in one request, if more than one is in it.
const BODY_BYTES_MAX: usize = 4 << 20;

/// Receivers, as settings name them.
pub(crate) struct Sinks {
    sinks: Vec<Sink>,
    client: Client,
}

struct Sink {
    /// Of what it is: the same after a restart, and for a topic whichever of its brokers settings name.
    id: u128,
    /// For the log.
    name: String,
    way: Way,
}

enum Way {
    Kafka { producer: Box<KafkaProducer>, topic: String },
    Http { url: String },
}

impl Sinks {
    /// Those that settings name; `None` if there are none.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or there can be no client for HTTP.
    pub(crate) fn new(settings: &Settings) -> anyhow::Result<Option<Self>> {
        let events = &settings.config_events;
        if !events.has_receivers() {
            return Ok(None);
        }
        let duration_max = events.duration_max.0;
        let mut sinks = Vec::new();
        if !events.kafka.is_empty() {
            let producer = Box::new(KafkaProducer::new(kafka_options(settings, duration_max)?));
            let topic = events.kafka_topic.clone();
            sinks.push(Sink::new(Way::Kafka { producer, topic }));
        }
        for url in &events.hooks.0 {
            sinks.push(Sink::new(Way::Http { url: url.clone() }));
        }
        // Whoever runs the server names the URLs: private addresses are as good as others.
        let client = sender::client(Others::Any, duration_max)?;
        Ok(Some(Self { sinks, client }))
    }

    /// Who they are.
    pub(super) fn ids(&self) -> impl Iterator<Item = u128> + '_ {
        self.sinks.iter().map(|sink| sink.id)
    }

    /// What one is called.
    pub(super) fn name(&self, id: u128) -> &str {
        self.sink(id).map_or("", |sink| &sink.name)
    }

    /// Sends events to one of them, in order.
    ///
    /// # Errors
    ///
    /// Why they were not accepted, in words.
    pub(super) async fn send(&self, id: u128, messages: &[Message]) -> Result<(), String> {
        let sink = self.sink(id).ok_or("no such receiver")?;
        let events = messages.iter().map(|message| std::str::from_utf8(&message.payload));
        let events: Vec<&str> =
            events.collect::<Result<_, _>>().map_err(|_| "an event in the outbox is damaged".to_owned())?;
        match &sink.way {
            Way::Kafka { producer, topic } => {
                let records = events.iter().map(|event| kafka_record(topic, event));
                let records =
                    records.collect::<Option<Vec<_>>>().ok_or("an event in the outbox is damaged")?;
                producer.send(records).await.map_err(|error| error.to_string())
            }
            Way::Http { url } => {
                for part in parts(&events, BODY_BYTES_MAX) {
                    self.post(url, events_body(part.iter().copied())).await?;
                }
                Ok(())
            }
        }
    }

    /// Any answer of class 2xx accepts them.
    async fn post(&self, url: &str, body: String) -> Result<(), String> {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(EVENTS_MEDIA_TYPE));
        sender::post(&self.client, url, headers, body.into()).await
    }

    fn sink(&self, id: u128) -> Option<&Sink> {
        self.sinks.iter().find(|sink| sink.id == id)
    }
}

impl Sink {
    fn new(way: Way) -> Self {
        let name = match &way {
            Way::Kafka { topic, .. } => format!("kafka {topic}"),
            Way::Http { url } => format!("http {url}"),
        };
        Self { id: Fingerprint::of(name.as_bytes()).0, name, way }
    }
}

/// Events in order, so many of them together as fit into so many bytes; what is larger goes alone.
fn parts<'e, 'a>(events: &'e [&'a str], bytes_max: usize) -> Vec<&'e [&'a str]> {
    let (mut parts, mut rest) = (Vec::new(), events);
    while !rest.is_empty() {
        let mut bytes = 0_usize;
        let fits = |event: &&&str| {
            bytes = bytes.saturating_add(event.len());
            bytes <= bytes_max
        };
        let count = rest.iter().take_while(fits).count().max(1);
        let (part, others) = rest.split_at(count);
        parts.push(part);
        rest = others;
    }
    parts
}

fn kafka_record(topic: &str, event: &str) -> Option<KafkaRecord> {
    let KafkaEvent { key, headers, value } = kafka_event(event)?;
    Some(KafkaRecord { topic: topic.to_owned(), key: key.into(), headers, value: value.into() })
}

fn kafka_options(settings: &Settings, duration_max: Duration) -> anyhow::Result<KafkaOptions> {
    let events = &settings.config_events;
    let tls = match (events.kafka_tls, &events.kafka_roots) {
        (Switch::On, Some(roots)) => KafkaTls::Roots(read_roots(roots)?),
        _ => KafkaTls::Off,
    };
    let login = events.kafka_password.as_ref().map(|password| KafkaLogin {
        mechanism: match events.kafka_login {
            KafkaLoginKind::Plain => SaslMechanism::Plain,
            KafkaLoginKind::ScramSha256 => SaslMechanism::ScramSha256,
            KafkaLoginKind::ScramSha512 => SaslMechanism::ScramSha512,
        },
        user: events.kafka_user.clone(),
        password: password.0.clone(),
    });
    let (brokers, client_id) = (events.kafka.clone(), "twinfold".to_owned());
    Ok(KafkaOptions { brokers, client_id, tls, login, duration_max })
}

fn read_roots(path: &Path) -> anyhow::Result<Bytes> {
    let roots =
        std::fs::read(path).with_context(|| format!("read config_event_kafka_roots {}", path.display()))?;
    Ok(roots.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_as_many_events_as_fit() {
        let events = ["1", "2", "345", "678901", "", "23", "45", "6"];
        let expected: [&[&str]; 3] = [&["1", "2", "345"], &["678901"], &["", "23", "45", "6"]];
        assert_eq!(parts(&events, 5), expected);
        assert!(parts(&[], 5).is_empty());
    }
}
