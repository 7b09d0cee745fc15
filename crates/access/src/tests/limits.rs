//! What is bounded: guesses at a time, and what one group or user is granted.

use super::*;

#[tokio::test]
async fn the_password_of_the_settings_is_guessed_no_faster_than_a_stored_one() {
    let (users, _) = users();
    assert!(by_password(&users, "", "admin", "pa").await.is_ok());
    assert!(is_unknown(&users, "", "admin", "pb").await);
    users.shared.passwords.fill();
    assert!(matches!(by_password(&users, "", "admin", "pb").await, Err(Error::Busy)));
    assert!(by_password(&users, "", "admin", "pa").await.is_ok(), "what was found right is cached");
    // Of another tenant nothing is cached yet.
    assert!(matches!(by_password(&users, "city", "admin", "pa").await, Err(Error::Busy)));
}

/// So many vertex labels, and their names.
fn some(count: usize, name: &str) -> Vec<Resource> {
    let labelled =
        |number| Resource { label: format!("{name}{number}"), ..Resource::any(ResourceType::Vertex) };
    (0..count).map(labelled).collect()
}

fn is_full<T>(outcome: Result<T, Error>) -> bool {
    matches!(outcome, Err(Error::Invalid(why)) if why.contains("ROLE_RESOURCES_MAX"))
}

/// A user `boss` in the groups `a`, which is granted 1,000 resources, and `b`, which may read vertices of label `late0`.
async fn full() -> (Users, crate::Managed) {
    let (users, _) = users();
    let managed = users.of_or_create(&tenant(""), users.anybody()).await.unwrap();
    managed.create_user(draft("boss", "secret")).await.unwrap();
    let target = async |name: &str, resources: Vec<Resource>| {
        let named = (name.to_owned(), "url".to_owned());
        managed.create_target(("DEFAULT", "hugegraph".into()), named, Some(resources)).await.unwrap();
    };
    for group in ["a", "b"] {
        managed.create_group(group.into(), None).await.unwrap();
        managed.create_belong("boss".into(), group.into(), None).await.unwrap();
    }
    for name in ["t0", "t1", "t2"] {
        target(name, some(100, name)).await;
    }
    target("late", some(1, "late")).await;
    managed.create_access(("b".into(), "late".into()), Action::Read, None).await.unwrap();
    for (name, actions) in [("t0", 4), ("t1", 4), ("t2", 2)] {
        for action in Action::ALL.into_iter().take(actions) {
            managed.create_access(("a".into(), name.into()), action, None).await.unwrap();
        }
    }
    (users, managed)
}

#[tokio::test]
async fn a_group_is_granted_as_much_as_a_role_has() {
    let (_, managed) = full().await;
    let one_more = || managed.create_access(("a".into(), "late".into()), Action::Read, None);
    assert!(is_full(one_more().await));
    let update = |count| managed.update_target("t2", (None, None), None, Some(some(count, "t2")));
    update(99).await.unwrap();
    one_more().await.unwrap();
    assert!(is_full(update(100).await), "two more of 999");
    update(99).await.unwrap();
    managed.delete_access("Sa>-88>11>Slate").await.unwrap();
    update(100).await.unwrap();
}

#[tokio::test]
async fn who_is_granted_more_than_a_role_has_has_the_first_of_it_and_can_be_removed() {
    let (users, managed) = full().await;
    let boss = async || by_password(&users, "", "boss", "secret").await.unwrap();
    let (reads_first, reads_late) = (reads(&*boss().await, "t20"), reads(&*boss().await, "late0"));
    assert!(reads_first && !reads_late);
    // Nobody but an administrator knows what else he is granted.
    let role = managed.role_of("boss").await.unwrap();
    assert!(role.is_cut() && crate::Role::admin().contains(&role) && !role.contains(&role));
    managed.update_user("boss", draft("boss", "secret")).await.unwrap();
    managed.delete_access("Sa>-88>18>St0").await.unwrap();
    assert!(reads(&*boss().await, "late0"));
    managed.create_access(("a".into(), "t0".into()), Action::Execute, None).await.unwrap();
    managed.delete_belong("Sboss>-82>>Sb").await.unwrap();
    assert!(!managed.role_of("boss").await.unwrap().is_cut(), "1,000 are not too many");
    managed.create_belong("boss".into(), "b".into(), None).await.unwrap();
    managed.delete_user("boss").await.unwrap();
    managed.delete_group("a").await.unwrap();
    managed.delete_target("t0").await.unwrap();
}
