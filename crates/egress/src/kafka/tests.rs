use krafka::error::ErrorCode;
use krafka::testing::{ApiKey, Control, FakeBroker};

use super::*;

fn producer_of(broker: &FakeBroker) -> KafkaProducer {
    KafkaProducer::new(options(broker.bootstrap_servers()))
}

fn options(brokers: String) -> KafkaOptions {
    KafkaOptions {
        brokers,
        client_id: "test".to_owned(),
        tls: KafkaTls::Off,
        login: None,
        duration_max: Duration::from_secs(5),
    }
}

fn record(value: &str) -> KafkaRecord {
    KafkaRecord {
        topic: "changes".to_owned(),
        key: "k".into(),
        headers: vec![("ce_id", value.to_owned())],
        value: value.to_owned().into(),
    }
}

/// The values of the topic, each with its first header, in the order of the log.
fn sent(broker: &FakeBroker) -> Vec<(String, String)> {
    let records = broker.all_records("changes").unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let of = |record: &krafka::consumer::ConsumerRecord| {
        let (name, value) = record.headers.first().unwrap();
        assert_eq!(name.to_string(), "ce_id");
        (text(record.value.as_ref().unwrap()), text(value.as_ref().unwrap()))
    };
    records.iter().map(of).collect()
}

#[tokio::test]
async fn records_arrive_whole_and_in_order() {
    let broker = FakeBroker::start().await.unwrap();
    broker.create_topic("changes", 3);
    let producer = producer_of(&broker);
    producer.send((0..100).map(|number| record(&number.to_string())).collect()).await.unwrap();
    producer.send(vec![record("last")]).await.unwrap();
    let expected = (0..100).map(|number| number.to_string()).chain(["last".to_owned()]);
    assert_eq!(sent(&broker), expected.map(|value| (value.clone(), value)).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_refusal_of_the_broker_is_told_and_the_next_try_arrives() {
    let broker = FakeBroker::start().await.unwrap();
    broker.create_topic("changes", 1);
    let producer = producer_of(&broker);
    broker.on_once(ApiKey::Produce, |_| Control::Error(ErrorCode::TopicAuthorizationFailed));
    let refused = producer.send(vec![record("a")]).await.unwrap_err();
    assert!(matches!(&refused, Error::Failed(text) if text.contains("Authorization")), "{refused}");
    producer.send(vec![record("a")]).await.unwrap();
    assert_eq!(sent(&broker).len(), 1);
}

#[tokio::test]
async fn who_is_not_there_is_found_once_it_is() {
    let broker = FakeBroker::start().await.unwrap();
    broker.create_topic("changes", 1);
    let producer = producer_of(&broker);
    broker.crash(0);
    assert!(producer.send(vec![record("a")]).await.is_err());
    broker.restart(0);
    producer.send(vec![record("b")]).await.unwrap();
    assert_eq!(sent(&broker).last().unwrap().0, "b");
}

#[tokio::test]
async fn what_is_too_large_is_refused_before_anything_is_sent() {
    let broker = FakeBroker::start().await.unwrap();
    let producer = producer_of(&broker);
    let large = record(&"x".repeat(KAFKA_RECORD_BYTES_MAX));
    assert_eq!(producer.send(vec![record("a"), large]).await, Err(Error::TooLarge(KAFKA_RECORD_BYTES_MAX)));
    assert_eq!(broker.open_connections(), 0);
}

#[tokio::test]
async fn settings_that_cannot_work_are_named() {
    let producer = KafkaProducer::new(options(String::new()));
    let error = producer.send(vec![record("a")]).await.unwrap_err();
    assert!(matches!(&error, Error::Invalid(text) if text.contains("bootstrap")), "{error}");
}

#[tokio::test]
async fn a_login_is_told() {
    let broker = FakeBroker::start().await.unwrap();
    broker.create_topic("changes", 1);
    broker.require_sasl_plain("user", "secret");
    let login = |password: &str| {
        let login = KafkaLogin {
            mechanism: SaslMechanism::Plain,
            user: "user".to_owned(),
            password: password.to_owned(),
        };
        KafkaProducer::new(KafkaOptions { login: Some(login), ..options(broker.bootstrap_servers()) })
    };
    assert!(login("wrong").send(vec![record("a")]).await.is_err());
    login("secret").send(vec![record("a")]).await.unwrap();
    assert_eq!(sent(&broker).len(), 1);
}
