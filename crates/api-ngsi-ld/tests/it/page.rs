//! The examples of the user's page on history: each request answers 2xx, and what the page shows is what comes.

use api_http::testing::Sent;

use crate::broker::Broker;

const PAGE: &str = include_str!("../../../../docs/temporal.md");

/// Splits a shell command into words; single quotes keep what is inside.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for (index, part) in command.split('\'').enumerate() {
        let quoted = index % 2 == 1;
        for (index, piece) in part.split(|found: char| !quoted && found.is_whitespace()).enumerate() {
            if index > 0 {
                words.push(String::new());
            }
            words.last_mut().unwrap().push_str(piece);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn sent(command: &str) -> Sent {
    let words = words(command);
    let (mut method, mut target, mut body) = ("GET", "", None);
    let mut at = words.iter().skip(1);
    while let Some(word) = at.next() {
        match &**word {
            "-s" => {}
            "-X" => method = at.next().unwrap(),
            "-H" => assert_eq!(at.next().unwrap(), "Content-Type: application/json"),
            "-d" => body = at.next(),
            url => target = url.strip_prefix("localhost:1026").unwrap(),
        }
    }
    let sent = Sent::line(&format!("{method} {target}"));
    body.map_or(sent.clone(), |body| sent.body("application/json", body.as_str()))
}

#[tokio::test]
async fn the_examples_of_the_page_work() {
    let broker = Broker::new();
    let (mut answer, mut requests, mut shown) = (String::new(), 0, 0);
    for block in PAGE.split("```").skip(1).step_by(2) {
        if let Some(commands) = block.strip_prefix("sh\n") {
            for command in commands.split("curl ").skip(1) {
                let (_, got) = broker.answer(&sent(&format!("curl {command}"))).await;
                assert!((200..300).contains(&got.status), "{command}: {} {}", got.status, got.body);
                (answer, requests) = (got.body, requests + 1);
            }
        } else {
            let expected = lang_json::canonical(block.strip_prefix("json\n").unwrap(), 9).unwrap();
            assert_eq!(answer.trim_end(), expected);
            shown += 1;
        }
    }
    assert!(requests > 8 && shown > 4, "{requests} requests, {shown} answers");
}
