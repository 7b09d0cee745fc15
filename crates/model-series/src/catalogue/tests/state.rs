//! Writers that demand the state they read.

use store::{Fingerprint, Fingerprints, StateCondition};

use super::*;
use crate::DefinitionChange;

fn read(state: Fingerprint) -> StateCondition {
    StateCondition { one_of: Some(Fingerprints::These(vec![state])), none_of: None }
}

/// What came of writers that all demand one state: exactly one of them wins, the others are told why not.
async fn check_one_wins<T: Send + 'static>(
    writers: Vec<impl Future<Output = Result<T, Error>> + Send + 'static>,
) {
    let writers: Vec<_> = writers.into_iter().map(tokio::spawn).collect();
    let mut won = 0;
    for writer in writers {
        match writer.await.expect("no panic") {
            Ok(_) => won += 1,
            Err(error) => assert!(matches!(error, Error::StateDiffers(_)), "{error}"),
        }
    }
    assert_eq!(won, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_writers_of_a_unit_that_demand_one_state_exactly_one_wins() {
    let repository = repository().await;
    for round in 0..30 {
        let state =
            crate::unit_fingerprint(repository.units().await.expect("units").get("kWh").expect("kWh"));
        let writer = |number: u32| {
            let repository = repository.clone().when(read(state));
            let mut unit = unit("kWh");
            unit.offset = f64::from(round * 10 + number + 1);
            async move { repository.put_unit(unit).await }
        };
        check_one_wins((0..6).map(writer).collect()).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_writers_of_a_series_that_demand_one_state_exactly_one_wins() {
    let repository = repository().await;
    define(&repository, draft("s")).await;
    for round in 0..30 {
        let state = find(&repository, "s").await.fingerprint();
        let writer = |number: u32| {
            let repository = repository.clone().when(read(state));
            let description = Some(format!("{round} {number}").into());
            let change = DefinitionChange { description, ..DefinitionChange::default() };
            async move { repository.change(SeriesRef::Name("s"), change, NOW).await }
        };
        check_one_wins((0..6).map(writer).collect()).await;
    }
}

#[tokio::test]
async fn nothing_is_made_where_something_must_be() {
    let repository = repository().await;
    let present = StateCondition { one_of: Some(Fingerprints::Any), none_of: None };
    let refused = repository.clone().when(present.clone()).put_unit(unit("new")).await;
    assert!(matches!(refused, Err(Error::StateDiffers(_))), "{refused:?}");
    assert!(repository.units().await.expect("units").get("new").is_err());
    let absent = StateCondition { one_of: None, none_of: Some(Fingerprints::Any) };
    let only_new = repository.clone().when(absent);
    only_new.put_unit(unit("new")).await.expect("made");
    assert!(matches!(only_new.put_unit(unit("new")).await, Err(Error::StateDiffers(_))));
    assert!(matches!(only_new.remove_unit("new").await, Err(Error::StateDiffers(_))));
    repository.when(present).remove_unit("new").await.expect("removed");
}
