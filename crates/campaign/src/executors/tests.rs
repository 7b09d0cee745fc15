//! The executors against an in-process toy server.

use super::open::{Arrivals, run_open};
use super::*;
use crate::scenario::{Call, Expect, Fixed, Request, Seat, Session};
use crate::toy::{Nobody, Reply, Toy};

fn load(toy: &Toy, users: usize) -> Load {
    Load {
        address: toy.address(),
        host: toy.address().to_string(),
        server_pid: None,
        users,
        threads: 1,
        timeout: Duration::from_secs(60),
        seed: 1,
    }
}

fn gets(calls: Option<u64>) -> Fixed {
    let call = Call::expecting(200);
    Fixed { headers: String::new(), method: "GET", path: "/".to_owned(), body: Vec::new(), call, calls }
}

fn shared(iterations: u64) -> Limits {
    Limits { iterations: Some(iterations), duration: None }
}

#[test]
fn users_share_exactly_the_given_iterations() {
    for threads in [1, 2] {
        let toy = Toy::start(|_| Reply::ok("hello"));
        let load = Load { threads, ..load(&toy, 7) };
        let outcome = run_closed(&load, shared(1_000), &gets(None), &mut |_| {}).unwrap();
        assert_eq!((outcome.record.successes(), outcome.record.failures()), (1_000, 0));
        assert_eq!(toy.requests(), 1_000);
        // One connection each, kept alive; who came too late for a request may not have been welcomed yet.
        let begun = std::time::Instant::now();
        while toy.connections() < 7 && begun.elapsed() < Duration::from_secs(60) {
            std::thread::yield_now();
        }
        assert_eq!(toy.connections(), 7);
        assert_eq!(outcome.record.body_bytes, 5_000);
        assert!(outcome.throughput() > 0.0 && !outcome.out_of_time);
    }
}

#[test]
fn at_once_users_think_between_calls() {
    let toy = Toy::start(|_| Reply::ok(""));
    let mut scenario = gets(Some(4));
    scenario.call.pause = Duration::from_millis(50);
    let outcome = run_closed(&load(&toy, 10), Limits::default(), &scenario, &mut |_| {}).unwrap();
    assert_eq!(outcome.record.successes(), 40);
    // The last answers come after three pauses; the rate is bounded by the think time.
    assert!(outcome.elapsed >= Duration::from_millis(150), "{:?}", outcome.elapsed);
    assert!(outcome.throughput() < 10.0 * 4.0 / 0.15, "{}", outcome.throughput());
}

#[test]
fn a_timed_job_ends_with_its_last_session() {
    let toy = Toy::start(|nth| Reply::ok("").after(if nth == 5 { 100 } else { 0 }));
    let outcome = run_closed(&load(&toy, 2), Limits::default(), &gets(Some(5)), &mut |_| {}).unwrap();
    assert_eq!(outcome.record.calls(), 10);
    assert!(outcome.elapsed >= Duration::from_millis(100));
}

#[test]
fn the_time_limit_ends_a_load() {
    let toy = Toy::start(|_| Reply::ok(""));
    let limits = Limits { iterations: Some(u64::MAX), duration: Some(Duration::from_millis(200)) };
    let outcome = run_closed(&load(&toy, 2), limits, &gets(None), &mut |_| {}).unwrap();
    assert!(outcome.out_of_time && outcome.elapsed >= Duration::from_millis(200));
}

#[test]
fn errors_are_counted_apart_by_status_with_examples() {
    let toy = Toy::start(|nth| match nth % 10 {
        0 => Reply::new(503, "come back later"),
        1 => Reply::new(404, "none here"),
        _ => Reply::ok(""),
    });
    let outcome = run_closed(&load(&toy, 1), shared(100), &gets(None), &mut |_| {}).unwrap();
    let record = &outcome.record;
    assert_eq!((record.successes(), record.failures()), (80, 20));
    assert_eq!(record.errors["503"].count, 10);
    assert_eq!(record.errors["404"].examples[0], "GET /: none here");
}

#[test]
fn a_dropped_connection_is_an_error_and_the_user_reconnects() {
    let toy = Toy::start(|nth| if nth == 3 { Reply::hang_up() } else { Reply::ok("") });
    let outcome = run_closed(&load(&toy, 1), shared(10), &gets(None), &mut |_| {}).unwrap();
    assert_eq!(outcome.record.errors["closed"].count, 1);
    assert_eq!(outcome.record.successes(), 9);
    assert_eq!(toy.connections(), 2);
}

#[test]
fn a_closing_answer_is_a_success_on_a_connection_of_its_own() {
    let toy = Toy::start(|_| Reply::ok("x").closing());
    let outcome = run_closed(&load(&toy, 1), shared(5), &gets(None), &mut |_| {}).unwrap();
    assert_eq!((outcome.record.successes(), toy.connections()), (5, 5));
}

#[test]
fn a_server_that_is_not_there_is_an_error_not_a_hang() {
    let nobody = Nobody::anywhere();
    let address = nobody.address();
    let toy = Toy::start(|_| Reply::ok(""));
    let load = Load { address, ..load(&toy, 2) };
    let outcome = run_closed(&load, shared(4), &gets(None), &mut |_| {}).unwrap();
    assert_eq!(outcome.record.errors["connect"].count, 4);
}

#[test]
fn a_silent_server_runs_into_the_timeout() {
    let toy = Toy::start(|_| Reply::ok("").after(3_600_000));
    let load = Load { timeout: Duration::from_millis(100), ..load(&toy, 1) };
    let outcome = run_closed(&load, shared(2), &gets(None), &mut |_| {}).unwrap();
    assert_eq!(outcome.record.errors["timeout"].count, 2);
}

#[test]
fn an_open_loop_shows_the_stall_that_a_closed_loop_hides() {
    const STALL_MS: u64 = 500;
    let stalling = |nth| Reply::ok("").after_stall(if nth == 50 { STALL_MS } else { 0 });
    let toy = Toy::start(stalling);
    let closed = run_closed(&load(&toy, 1), shared(1_000), &gets(None), &mut |_| {}).unwrap();
    let toy = Toy::start(stalling);
    let arrivals = Arrivals { rate: 500.0, duration: Duration::from_secs(2) };
    let open = run_open(&load(&toy, 1), arrivals, &gets(None), &mut |_| {}).unwrap();
    assert_eq!(open.record.successes(), 1_000);
    assert!(open.record.percentile_ms(99.0) > 300.0, "{}", open.record.percentile_ms(99.0));
    // One of a thousand met the stall, or a quarter of them; on a machine too slow for the rate, all the more.
    let ninth = [&closed, &open].map(|outcome| outcome.record.percentile_ms(90.0));
    assert!(ninth[0] < ninth[1], "{ninth:?}");
}

#[test]
fn an_open_loop_keeps_its_rate_and_its_number() {
    let toy = Toy::start(|_| Reply::ok(""));
    let arrivals = Arrivals { rate: 2_000.0, duration: Duration::from_millis(500) };
    let load = Load { threads: 2, ..load(&toy, 20) };
    let outcome = run_open(&load, arrivals, &gets(None), &mut |_| {}).unwrap();
    assert_eq!(outcome.record.successes(), 1_000);
    // The last is due a half of a millisecond before the end, and never sent before it is due.
    assert!(outcome.elapsed >= Duration::from_millis(499), "{:?}", outcome.elapsed);
    assert!(run_open(&load, Arrivals { rate: 0.0, ..arrivals }, &gets(None), &mut |_| {}).is_err());
}

#[test]
fn unmeasured_calls_leave_no_latency() {
    let toy = Toy::start(|_| Reply::ok(""));
    let mut scenario = gets(Some(3));
    scenario.call.measured = false;
    scenario.call.expects = Expect::Success;
    let outcome = run_closed(&load(&toy, 1), Limits::default(), &scenario, &mut |_| {}).unwrap();
    assert_eq!((outcome.record.calls(), toy.requests()), (0, 3));
}

#[test]
fn every_user_has_a_session_of_its_own() {
    struct Named;
    struct NamedSession(usize, bool);
    impl Scenario for Named {
        fn headers(&self) -> &str {
            "X-Common: yes\r\n"
        }
        fn session(&self, seat: Seat) -> Box<dyn Session + '_> {
            Box::new(NamedSession(seat.user, false))
        }
    }
    impl Session for NamedSession {
        fn next(&mut self, request: &mut Request) -> Option<Call> {
            request.start("POST");
            request.path.extend_from_slice(format!("/user/{}", self.0).as_bytes());
            request.body.extend_from_slice(b"body");
            (!std::mem::replace(&mut self.1, true)).then(|| Call::expecting(200))
        }
    }
    let toy = Toy::start(|_| Reply::ok(""));
    run_closed(&load(&toy, 3), Limits::default(), &Named, &mut |_| {}).unwrap();
    let mut seen = toy.heads();
    seen.sort();
    assert_eq!(seen.len(), 3);
    for (user, head) in seen.iter().enumerate() {
        assert!(head.starts_with(&format!("POST /user/{user} HTTP/1.1\r\nHost: 127.0.0.1:")), "{head}");
        assert!(
            head.contains("\r\nX-Common: yes\r\n") && head.contains("\r\nContent-Length: 4\r\n"),
            "{head}"
        );
    }
}
