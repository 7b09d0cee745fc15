mod limits;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use model_graph::{Clock, GraphOptions, Graphs, TenantName, Timestamp};

use crate::{
    AccessOptions, Action, Allowed, Caller, Error, ManagerKind, Proof, Resource, ResourceType, UserDraft,
    Users,
};

const START: Timestamp = Timestamp(1_767_225_600_000_000);
const GRAPH: (&str, &str) = ("DEFAULT", "hugegraph");

/// Never the same twice.
fn random(bytes: &mut [u8]) {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes();
    bytes.iter_mut().zip(number.iter().cycle()).for_each(|(byte, next)| *byte = *next);
}

fn users() -> (Users, Clock) {
    users_hashed(3)
}

/// The same, whose passwords take so many rounds.
fn users_hashed(rounds: u32) -> (Users, Clock) {
    let clock = Clock::manual(START);
    let options = GraphOptions { tenants_max: 10, graphs_max: 10, buckets: 1 };
    let graphs = Graphs::new(store::testing::memory(clock.clone()), options);
    let options = AccessOptions {
        is_on: true,
        admin_password: Some("pa".into()),
        token_duration: Duration::from_secs(60),
        password_rounds: NonZeroU32::new(rounds).unwrap(),
        random,
    };
    (Users::new(graphs, clock.clone(), options), clock)
}

fn tenant(name: &str) -> TenantName {
    TenantName::new(name).unwrap()
}

fn draft(name: &str, password: &str) -> UserDraft {
    UserDraft { name: Some(name.into()), password: Some(password.into()), ..UserDraft::default() }
}

async fn by_password(users: &Users, of: &str, name: &str, password: &str) -> Result<Arc<Caller>, Error> {
    users.identify(&tenant(of), Proof::Password(name, password)).await
}

async fn is_unknown(users: &Users, of: &str, name: &str, password: &str) -> bool {
    matches!(by_password(users, of, name, password).await, Err(Error::Unknown))
}

async fn by_token(users: &Users, of: &str, token: &str) -> Result<Arc<Caller>, Error> {
    users.identify(&tenant(of), Proof::Token(token)).await
}

/// A group with a user `boss`, that may read vertices of label person.
async fn grant(users: &Users, of: &str) {
    let managed = users.of_or_create(&tenant(of), users.anybody()).await.unwrap();
    managed.create_user(draft("boss", "secret")).await.unwrap();
    managed.create_group("all".into(), None).await.unwrap();
    let resource = Resource { label: "person".into(), ..Resource::any(ResourceType::Vertex) };
    let named = ("all".to_owned(), "url".to_owned());
    managed.create_target(("DEFAULT", "hugegraph".into()), named, Some(vec![resource])).await.unwrap();
    managed.create_belong("-63:boss".into(), "-69:all".into(), None).await.unwrap();
    managed.create_access(("-69:all".into(), "-77:all".into()), Action::Read, None).await.unwrap();
}

fn reads(caller: &Caller, label: &str) -> bool {
    caller.role.allowed(GRAPH, Action::Read, ResourceType::Vertex).has(label)
}

#[tokio::test]
async fn the_administrator_is_there_from_the_start() {
    let (users, _) = users();
    for of in ["", "city"] {
        assert!(by_password(&users, of, "admin", "pa").await.unwrap().role.is_admin());
        for (name, password) in
            [("admin", "pb"), ("admin", ""), ("Admin", "pa"), ("-63:admin", "pa"), ("", "")]
        {
            assert!(is_unknown(&users, of, name, password).await, "{name} {password}");
        }
    }
    let managed = users.of_or_create(&tenant("city"), users.anybody()).await.unwrap();
    let all = managed.list_users(None).await.unwrap();
    assert_eq!((all.len(), all[0].origin.creator.as_str()), (1, "system"));
    // Another password of one tenant's administrator is not that of another's.
    let new = UserDraft { password: Some("new".into()), ..UserDraft::default() };
    managed.update_user("-63:admin", new).await.unwrap();
    assert!(is_unknown(&users, "city", "admin", "pa").await);
    assert!(by_password(&users, "city", "admin", "new").await.unwrap().role.is_admin());
    assert!(by_password(&users, "", "admin", "pa").await.is_ok());
    assert!(matches!(managed.delete_user("admin").await, Err(Error::Invalid(_))));
    assert!(matches!(managed.create_user(draft("admin", "x")).await, Err(Error::Exists { .. })));
}

#[tokio::test]
async fn users_of_one_tenant_are_nobody_in_another() {
    let (users, _) = users();
    grant(&users, "city").await;
    let caller = by_password(&users, "city", "boss", "secret").await.unwrap();
    assert!(reads(&caller, "person") && !reads(&caller, "place"));
    assert!(is_unknown(&users, "", "boss", "secret").await);
    assert!(is_unknown(&users, "farm", "boss", "secret").await);
    let token = users.log_in(&tenant("city"), ("boss", "secret"), None).await.unwrap();
    assert!(by_token(&users, "city", &token).await.is_ok());
    // Another tenant with a user of the same name and password, and a key of its own.
    grant(&users, "farm").await;
    users.log_in(&tenant("farm"), ("boss", "secret"), None).await.unwrap();
    assert!(matches!(by_token(&users, "farm", &token).await, Err(Error::Unknown)));
    assert!(matches!(by_token(&users, "", &token).await, Err(Error::Unknown)));
}

#[tokio::test]
async fn what_is_cached_follows_what_is_stored() {
    let (users, _) = users();
    grant(&users, "").await;
    let admin = users.anybody();
    let managed = users.of(&tenant(""), admin).await.unwrap();
    for _ in 0..2 {
        assert!(reads(&by_password(&users, "", "boss", "secret").await.unwrap(), "person"));
        assert!(is_unknown(&users, "", "boss", "other").await);
    }
    let wider = vec![Resource::any(ResourceType::Vertex)];
    managed.update_target("-77:all", (None, None), None, Some(wider)).await.unwrap();
    assert!(reads(&by_password(&users, "", "boss", "secret").await.unwrap(), "place"));
    managed.delete_belong("Sboss>-82>>Sall").await.unwrap();
    assert!(!reads(&by_password(&users, "", "boss", "secret").await.unwrap(), "person"));
    let new = UserDraft { password: Some("new".into()), ..UserDraft::default() };
    managed.update_user("boss", new).await.unwrap();
    assert!(is_unknown(&users, "", "boss", "secret").await);
    assert!(by_password(&users, "", "boss", "new").await.is_ok());
    managed.delete_user("boss").await.unwrap();
    assert!(is_unknown(&users, "", "boss", "new").await);
}

#[tokio::test]
async fn tokens_end_by_time_by_logout_and_by_a_new_password() {
    let (users, clock) = users();
    grant(&users, "").await;
    let log_in = async |duration: Option<u64>| {
        users.log_in(&tenant(""), ("boss", "secret"), duration.map(Duration::from_secs)).await.unwrap()
    };
    assert!(matches!(users.log_in(&tenant(""), ("boss", "no"), None).await, Err(Error::Unknown)));
    let (short, long, longest) = (log_in(Some(10)).await, log_in(None).await, log_in(Some(10_000)).await);
    assert!(reads(&by_token(&users, "", &short).await.unwrap(), "person"));
    clock.set(Timestamp(START.0 + 10_000_000));
    assert!(matches!(by_token(&users, "", &short).await, Err(Error::Unknown)));
    assert!(by_token(&users, "", &long).await.is_ok());
    users.log_out(&tenant(""), &long).await.unwrap();
    assert!(matches!(by_token(&users, "", &long).await, Err(Error::Unknown)));
    assert!(matches!(users.log_out(&tenant(""), &long).await, Err(Error::Unknown)));
    assert!(by_token(&users, "", &longest).await.is_ok());
    clock.set(Timestamp(START.0 + 60_000_000));
    assert!(
        matches!(by_token(&users, "", &longest).await, Err(Error::Unknown)),
        "no token outlives the setting"
    );
    let token = log_in(None).await;
    let managed = users.of(&tenant(""), users.anybody()).await.unwrap();
    let new = UserDraft { password: Some("new".into()), ..UserDraft::default() };
    managed.update_user("boss", new).await.unwrap();
    assert!(matches!(by_token(&users, "", &token).await, Err(Error::Unknown)));
    for broken in ["", "x", "a.b.c"] {
        assert!(matches!(by_token(&users, "", broken).await, Err(Error::Unknown)));
    }
}

#[tokio::test]
async fn nobody_gives_what_he_has_not() {
    let (users, _) = users();
    grant(&users, "").await;
    let admin = users.of(&tenant(""), users.anybody()).await.unwrap();
    let rights = [ResourceType::Grant, ResourceType::UserGroup].map(Resource::any).to_vec();
    let named = ("rights".to_owned(), "url".to_owned());
    admin.create_target(("DEFAULT", "hugegraph".into()), named, Some(rights)).await.unwrap();
    for action in [Action::Read, Action::Write] {
        admin.create_access(("all".into(), "rights".into()), action, None).await.unwrap();
    }
    admin.create_group("more".into(), None).await.unwrap();
    let named = ("more".to_owned(), "url".to_owned());
    let all = vec![Resource::any(ResourceType::All)];
    admin.create_target(("DEFAULT", "hugegraph".into()), named, Some(all)).await.unwrap();
    let boss = by_password(&users, "", "boss", "secret").await.unwrap();
    let boss = users.of(&tenant(""), boss).await.unwrap();
    // He makes users and groups, and gives them what he has.
    boss.create_user(draft("clerk", "secret")).await.unwrap();
    boss.create_group("clerks".into(), None).await.unwrap();
    boss.create_access(("clerks".into(), "all".into()), Action::Read, None).await.unwrap();
    boss.create_belong("clerk".into(), "clerks".into(), None).await.unwrap();
    let is_forbidden = |refused: Result<(), Error>| matches!(refused, Err(Error::Forbidden(_)));
    assert!(is_forbidden(
        boss.create_access(("clerks".into(), "more".into()), Action::Read, None).await.map(drop)
    ));
    assert!(is_forbidden(
        boss.create_access(("clerks".into(), "all".into()), Action::Write, None).await.map(drop)
    ));
    let all = Some(vec![Resource::any(ResourceType::Root)]);
    assert!(is_forbidden(boss.update_target("all", (None, None), None, all).await.map(drop)));
    assert!(is_forbidden(boss.update_user("admin", draft("admin", "x")).await.map(drop)));
    assert!(is_forbidden(boss.create_manager(ManagerKind::Admin, "DEFAULT", "boss").await));
    assert!(is_forbidden(boss.create_manager(ManagerKind::Space, "DEFAULT", "boss").await));
    assert!(is_forbidden(boss.delete_user("clerk").await), "DELETE was not granted");
    // Who is granted more than he is none of his.
    admin.create_access(("more".into(), "more".into()), Action::Write, None).await.unwrap();
    assert!(is_forbidden(boss.create_belong("boss".into(), "more".into(), None).await.map(drop)));
    admin.create_belong("clerk".into(), "more".into(), None).await.unwrap();
    assert!(is_forbidden(boss.update_user("clerk", draft("clerk", "mine")).await.map(drop)));
    // Everybody may change himself, and sees himself alone.
    let clerk = by_password(&users, "", "clerk", "secret").await.unwrap();
    let clerk = users.of(&tenant(""), clerk).await.unwrap();
    clerk.update_user("clerk", draft("clerk", "other")).await.unwrap();
    assert!(is_forbidden(clerk.get_user("boss").await.map(drop)));
    assert!(clerk.list_users(None).await.unwrap().is_empty());
    assert_eq!(clerk.get_user("clerk").await.unwrap().name, "clerk");
}

#[tokio::test]
async fn managers_manage_their_space_alone() {
    let (users, _) = users();
    grant(&users, "").await;
    let admin = users.of(&tenant(""), users.anybody()).await.unwrap();
    admin.create_manager(ManagerKind::Space, "gs1", "all").await.unwrap();
    let boss = by_password(&users, "", "boss", "secret").await.unwrap();
    assert!(boss.role.manages("gs1") && !boss.role.manages("DEFAULT"), "his group does");
    let managed = users.of(&tenant(""), boss).await.unwrap();
    managed.create_manager(ManagerKind::Member, "gs1", "boss").await.unwrap();
    assert!(matches!(
        managed.create_manager(ManagerKind::Member, "gs2", "boss").await,
        Err(Error::Forbidden(_))
    ));
    assert_eq!(admin.roles_in("gs1", "boss").await.unwrap(), [ManagerKind::Member]);
    assert_eq!(admin.list_managers(ManagerKind::Admin, "").await.unwrap(), ["admin"]);
    assert_eq!(managed.list_managers(ManagerKind::Admin, "gs1").await.unwrap(), ["admin"]);
    // Who manages another space sees himself alone.
    assert!(managed.list_managers(ManagerKind::Admin, "gs2").await.unwrap().is_empty());
    assert_eq!(managed.roles_in("gs2", "boss").await.unwrap(), []);
    assert!(matches!(managed.roles_in("gs2", "admin").await, Err(Error::Forbidden(_))));
    // A member is no manager any more, and the other way round.
    admin.create_manager(ManagerKind::Member, "gs1", "all").await.unwrap();
    let boss = by_password(&users, "", "boss", "secret").await.unwrap();
    assert!(!boss.role.manages("gs1"));
    let in_space = |action| boss.role.allowed(("gs1", "any"), action, ResourceType::Vertex);
    assert!(matches!((in_space(Action::Read), in_space(Action::Write)), (Allowed::All, Allowed::Nothing)));
    admin.create_manager(ManagerKind::Admin, "gs1", "boss").await.unwrap();
    assert!(by_password(&users, "", "boss", "secret").await.unwrap().role.is_admin());
    admin.delete_manager(ManagerKind::Admin, "gs1", "boss").await.unwrap();
    assert!(!by_password(&users, "", "boss", "secret").await.unwrap().role.is_admin());
    assert!(admin.create_manager(ManagerKind::Admin, "", "nobody").await.is_err());
    // What goes with a group is never of a later one.
    admin.delete_group("all").await.unwrap();
    admin.create_group("all".into(), None).await.unwrap();
    admin.create_belong("boss".into(), "all".into(), None).await.unwrap();
    assert!(!in_new_group(&users).await);
}

async fn in_new_group(users: &Users) -> bool {
    let boss = by_password(users, "", "boss", "secret").await.unwrap();
    boss.role.manages("gs1") || reads(&boss, "person")
}

#[tokio::test]
async fn projects_come_and_go_with_their_groups() {
    let (users, _) = users();
    let admin = users.of_or_create(&tenant(""), users.anybody()).await.unwrap();
    admin.create_project(GRAPH, "p".into(), None).await.unwrap();
    assert!(matches!(admin.create_project(GRAPH, "p".into(), None).await, Err(Error::Exists { .. })));
    let names = |groups: Vec<crate::Group>| groups.into_iter().map(|group| group.name).collect::<Vec<_>>();
    assert_eq!(names(admin.list_groups(None).await.unwrap()), ["admin_p", "op_p"]);
    assert_eq!(admin.list_accesses((None, None), None).await.unwrap().len(), 3);
    let add = |project: &mut crate::Project| {
        project.graphs.insert("hugegraph".into());
        Ok(())
    };
    admin.update_project("p", add).await.unwrap();
    assert!(matches!(admin.delete_project("p").await, Err(Error::Forbidden(_))));
    let clear = |project: &mut crate::Project| {
        project.graphs.clear();
        Ok(())
    };
    admin.update_project("p", clear).await.unwrap();
    admin.delete_project("-98:p").await.unwrap();
    assert!(names(admin.list_groups(None).await.unwrap()).is_empty());
    assert!(admin.list_accesses((None, None), None).await.unwrap().is_empty());
    assert!(admin.list_targets(None).await.unwrap().is_empty());
}

/// So many that a hash is never done as soon as it is begun.
const SLOW_ROUNDS: u32 = 50_000;

/// What a future comes to that has begun, and waits for its hash, while another one runs to its end.
async fn overtaken<T>(first: impl Future<Output = T>, second: impl Future) -> T {
    let mut first = std::pin::pin!(first);
    let begun = std::future::poll_fn(|cx| Poll::Ready(first.as_mut().poll(cx))).await;
    second.await;
    match begun {
        Poll::Ready(done) => done,
        Poll::Pending => first.await,
    }
}

#[tokio::test]
async fn who_logs_in_with_a_password_that_is_changed_meanwhile_gets_a_token_of_the_old_one() {
    let (users, _) = users_hashed(SLOW_ROUNDS);
    grant(&users, "").await;
    let managed = users.of(&tenant(""), users.anybody()).await.unwrap();
    let default = tenant("");
    let change = async { managed.update_user("boss", draft("boss", "new")).await.unwrap() };
    let token = overtaken(users.log_in(&default, ("boss", "secret"), None), change).await.unwrap();
    assert!(matches!(by_token(&users, "", &token).await, Err(Error::Unknown)));
    assert!(by_password(&users, "", "boss", "new").await.is_ok());
}

#[tokio::test]
async fn the_first_change_of_the_administrator_keeps_a_password_set_meanwhile() {
    let (users, _) = users_hashed(SLOW_ROUNDS);
    let managed = users.of_or_create(&tenant(""), users.anybody()).await.unwrap();
    let phone = UserDraft { phone: Some("1".into()), ..UserDraft::default() };
    let set = async { managed.update_user("admin", draft("admin", "new")).await.unwrap() };
    overtaken(managed.update_user("admin", phone), set).await.unwrap();
    assert!(by_password(&users, "", "admin", "new").await.is_ok());
    assert!(is_unknown(&users, "", "admin", "pa").await);
    assert_eq!(managed.get_user("admin").await.unwrap().phone.as_deref(), Some("1"));
}

#[tokio::test]
async fn no_user_has_the_name_of_a_group() {
    let (users, _) = users();
    grant(&users, "").await;
    let admin = users.of(&tenant(""), users.anybody()).await.unwrap();
    let is_invalid = |refused: Result<(), Error>| matches!(refused, Err(Error::Invalid(_)));
    assert!(is_invalid(admin.create_user(draft("all", "x")).await.map(drop)));
    for name in ["boss", "admin"] {
        assert!(is_invalid(admin.create_group(name.into(), None).await.map(drop)), "{name}");
    }
    admin.create_user(draft("op_p", "x")).await.unwrap();
    assert!(is_invalid(admin.create_project(GRAPH, "p".into(), None).await.map(drop)));
    // What a group that is no more, or an earlier version, left behind goes, too.
    let both = [false, true].map(|is_group| crate::directory::put(&manager("gs1", "boss", is_group)));
    let directory = crate::directory::Directory::of(&users.shared.graphs, &tenant("")).await.unwrap();
    directory.change(async || Ok(((), both.to_vec()))).await.unwrap();
    admin.delete_manager(ManagerKind::Space, "gs1", "boss").await.unwrap();
    assert!(admin.list_managers(ManagerKind::Space, "gs1").await.unwrap().is_empty());
}

fn manager(space: &str, name: &str, is_group: bool) -> crate::Manager {
    crate::Manager::new(ManagerKind::Space, space, name, is_group)
}

#[tokio::test]
async fn nobody_fills_the_room_for_given_back_tokens() {
    let (users, clock) = users();
    grant(&users, "").await;
    let default = tenant("");
    for (name, password) in [("boss", "secret"), ("admin", "pa")] {
        let first = users.log_in(&default, (name, password), None).await.unwrap();
        let open = users.log_in(&default, (name, password), None).await.unwrap();
        users.log_out(&default, &first).await.unwrap();
        for _ in 0..350 {
            let token = users.log_in(&default, (name, password), None).await.unwrap();
            users.log_out(&default, &token).await.unwrap();
            assert!(matches!(by_token(&users, "", &token).await, Err(Error::Unknown)));
        }
        // Those that are no longer stored are given back all the same, and with them one that was not.
        for ended in [&first, &open] {
            assert!(matches!(by_token(&users, "", ended).await, Err(Error::Unknown)));
            assert!(matches!(users.log_out(&default, ended).await, Err(Error::Unknown)));
        }
        let token = users.log_in(&default, (name, password), None).await.unwrap();
        assert!(by_token(&users, "", &token).await.is_ok());
    }
    let directory = crate::directory::Directory::of(&users.shared.graphs, &default).await.unwrap();
    let stored = async || directory.list::<crate::records::Logout>(10_000).await.unwrap().len();
    assert!(stored().await <= 2 * 300);
    // They go when they have expired.
    clock.set(Timestamp(START.0 + 61_000_000));
    for _ in 0..3 {
        let token = users.log_in(&default, ("boss", "secret"), None).await.unwrap();
        users.log_out(&default, &token).await.unwrap();
    }
    assert_eq!(stored().await, 3);
    assert!(
        by_password(&users, "", "admin", "pa").await.unwrap().role.is_admin(),
        "still that of the settings"
    );
}
