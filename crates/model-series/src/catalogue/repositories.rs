//! The directory of repositories: made, listed, removed.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::RwLock;
use store::{
    Commit, Condition, Direction, ErrorKind, Fingerprint, Partition, StateCondition, Store, Tenant,
    TenantPlace, TenantPlaces, Timestamp, Write, WriteIds,
};

use super::check::check_text;
use super::context::{ATTEMPTS_MAX, Context};
use super::encode::{Reader, Writer, damaged};
use super::keys::{self, Index};
use super::state::check_state;
use crate::{Error, Hook, HookState, Repository, StrandOptions, Strands};

/// The repository of the default tenant.
const DEFAULT: &str = "default";
/// Repositories that are read in one page.
const PAGE: usize = 512;
/// Series that are removed in one group of commits.
const REMOVED_TOGETHER: usize = 256;

/// How series are kept.
#[derive(Clone, Copy, Debug)]
pub struct SeriesOptions {
    /// How their points are kept.
    pub strands: StrandOptions,
    /// The most repositories beside `default`.
    pub repositories_max: usize,
    /// Definitions that are kept decoded, of each repository (about 1 KiB each).
    pub definitions_cached_max: usize,
}

/// All repositories of a store; clones share.
#[derive(Clone, Debug)]
pub struct Repositories {
    shared: Arc<Shared>,
    /// What a change or a removal through this handle demands.
    condition: StateCondition,
}

#[derive(Debug)]
struct Shared {
    store: Store,
    strands: Strands,
    options: SeriesOptions,
    partition: Partition,
    write_ids: WriteIds,
    places: TenantPlaces,
    /// Those asked for so far, by name.
    contexts: RwLock<HashMap<Box<str>, Arc<Context>>>,
}

/// What the directory holds of a repository.
#[derive(Clone, Debug)]
struct Entry {
    state: State,
    info: RepositoryInfo,
    condition: Condition,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    /// Series are defined, written and read.
    Live,
    /// Gone for clients; what is in it goes piece by piece.
    Removing,
    /// Gone; numbers of its series are not free yet.
    Removed,
}

/// A repository to be made.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RepositoryDraft {
    /// `default`, or 1 to 128 of the characters A-Z a-z 0-9 _ - . :
    pub name: Box<str>,
    /// For people.
    pub description: Box<str>,
}

/// What is to be different of a repository; `None` leaves it as it is.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RepositoryChange {
    /// Another text.
    pub description: Option<Box<str>>,
}

/// A repository, as the directory tells it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RepositoryInfo {
    /// Its name; `default` is the default tenant's.
    pub name: Box<str>,
    /// For people.
    pub description: Box<str>,
    /// When it was made.
    pub created: Timestamp,
}

impl RepositoryInfo {
    /// Tells this state of the repository from others; what is in it does not count.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&put_entry(State::Live, self))
    }
}

impl Repositories {
    /// The repositories kept in `store`. One such handle for a process: it holds the cache of definitions and the
    /// queue of what wants to be folded.
    pub fn new(store: Store, options: SeriesOptions) -> Self {
        let strands = Strands::new(store.clone(), options.strands);
        let (partition, write_ids) = (keys::repositories_partition(), WriteIds::new());
        let (contexts, places) = (RwLock::default(), TenantPlaces::new(options.repositories_max));
        let shared = Arc::new(Shared { store, strands, options, partition, write_ids, places, contexts });
        Self { shared, condition: StateCondition::NONE }
    }

    /// The same for a writer that demands a state: what it changes or removes must be in it
    /// ([`Error::StateDiffers`] otherwise).
    #[must_use]
    pub fn when(&self, condition: StateCondition) -> Self {
        Self { condition, ..self.clone() }
    }

    /// All repositories, by name.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn list(&self) -> Result<Vec<RepositoryInfo>, Error> {
        let entries = self.entries().await?;
        let live = entries.into_iter().filter(|entry| entry.state == State::Live);
        Ok(live.map(|entry| entry.info).collect())
    }

    /// Makes a repository.
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyExists`] (also while an older one of the name is being removed), [`Error::Invalid`] for a name
    /// that cannot be, [`Error::Limit`] if there are as many as may be; if the store refuses.
    pub async fn create(&self, draft: RepositoryDraft, now: Timestamp) -> Result<RepositoryInfo, Error> {
        tenant_of(&draft.name)?;
        check_text("a description", &draft.description)?;
        let info = RepositoryInfo { name: draft.name, description: draft.description, created: now };
        for _ in 0..ATTEMPTS_MAX {
            let condition = match self.entry(&info.name).await? {
                None => Condition::Absent(keys::repository(&info.name)),
                Some(entry) if entry.state == State::Removed => entry.condition,
                Some(_) => return Err(Error::AlreadyExists(format!("repository {}", info.name).into())),
            };
            let place = self.take_place(&info.name).await?;
            if self.put(&info, State::Live, condition).await? {
                place.into_iter().for_each(TenantPlace::keep);
                return Ok(info);
            }
            place.into_iter().for_each(TenantPlace::give_back);
        }
        Err(Error::Contention("the repositories".into()))
    }

    /// Changes a repository.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; if the store refuses.
    pub async fn change(&self, name: &str, change: RepositoryChange) -> Result<RepositoryInfo, Error> {
        for _ in 0..ATTEMPTS_MAX {
            let Entry { mut info, condition, .. } = self.live(name).await?;
            check_state(&self.condition, Some(|| info.fingerprint()), "repository", name)?;
            if let Some(description) = &change.description {
                check_text("a description", description)?;
                info.description.clone_from(description);
            }
            if self.put(&info, State::Live, condition).await? {
                return Ok(info);
            }
        }
        Err(Error::Contention("the repositories".into()))
    }

    /// Removes a repository with all that is in it, piece by piece. A removal that is broken off is finished by
    /// calling this again, or by [`Repositories::sweep`]; the repository is gone for others from the beginning.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; if the store refuses.
    pub async fn remove(&self, name: &str, now: Timestamp) -> Result<(), Error> {
        for _ in 0..ATTEMPTS_MAX {
            let Some(entry) = self.entry(name).await?.filter(|entry| entry.state != State::Removed) else {
                return Err(not_found(name));
            };
            check_state(&self.condition, Some(|| entry.info.fingerprint()), "repository", name)?;
            if entry.state == State::Removing
                || self.put(&entry.info, State::Removing, entry.condition).await?
            {
                return self.finish_removal(name, now).await;
            }
        }
        Err(Error::Contention("the repositories".into()))
    }

    /// The repository of this name. Cost: one cached look-up.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; if the store refuses.
    pub async fn get(&self, name: &str) -> Result<Repository, Error> {
        let name = self.live(name).await?.info.name;
        Ok(Repository::new(self.context(&name)?))
    }

    /// The same; makes it if it is not there.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a name that cannot be; if the store refuses.
    pub async fn get_or_create(&self, name: &str, now: Timestamp) -> Result<Repository, Error> {
        match self.get(name).await {
            Err(Error::NotFound(_)) => {}
            other => return other,
        }
        let draft = RepositoryDraft { name: name.into(), description: "".into() };
        match self.create(draft, now).await {
            Ok(_) | Err(Error::AlreadyExists(_)) => self.get(name).await,
            Err(error) => Err(error),
        }
    }

    /// What the directory says of a repository.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; if the store refuses.
    pub async fn info(&self, name: &str) -> Result<RepositoryInfo, Error> {
        Ok(self.live(name).await?.info)
    }

    /// Finishes removals that were broken off, and gives numbers of removed series free. For a job: every minute. What
    /// fails is skipped ([`crate::SkipLog`]).
    ///
    /// # Errors
    ///
    /// If the store serves nobody, or its directory of repositories cannot be read.
    pub async fn sweep(&self, now: Timestamp) -> Result<(), Error> {
        for entry in self.entries_for("sweep").await? {
            if let Err(error) = self.sweep_one(&entry, now).await {
                self.skip("sweep", &entry.info.name, error)?;
            }
        }
        Ok(())
    }

    async fn sweep_one(&self, Entry { state, info, .. }: &Entry, now: Timestamp) -> Result<(), Error> {
        let context = self.context(&info.name)?;
        let finished = match state {
            State::Live => Ok(()),
            // Of a removed one too: a writer that found it before may have come after.
            State::Removing | State::Removed => self.finish_removal(&info.name, now).await,
        };
        let is_waiting = context.sweep_removals(now).await?;
        finished?;
        if *state == State::Removed
            && !is_waiting
            && let Some(entry) = self.entry(&info.name).await?.filter(|entry| entry.state == State::Removed)
        {
            let writes = vec![Write::Delete(keys::repository(&info.name))];
            self.commit(vec![entry.condition], writes, true).await?;
        }
        Ok(())
    }

    /// Removes points that are older than their series keep them, in all repositories; answers how many series lost
    /// some. For a job: every few minutes. What fails is skipped ([`crate::SkipLog`]). Cost: one cached read for each
    /// series with a retention.
    ///
    /// # Errors
    ///
    /// If the store serves nobody, or its directory of repositories cannot be read.
    pub async fn trim_expired(&self, now: Timestamp) -> Result<usize, Error> {
        let mut trimmed = 0;
        for info in self.live_for("trim").await? {
            match self.context(&info.name)?.trim_expired(now).await {
                Ok(count) => trimmed += count,
                Err(error) => self.skip("trim", &info.name, error)?,
            }
        }
        Ok(trimmed)
    }

    /// Packs blocks smaller that end more than `age` before `now`, of all series with compression; answers how many
    /// blocks. For a job: about once a day. What fails is skipped ([`crate::SkipLog`]).
    ///
    /// Cost: all definitions are read, and the state of every series (of every quotation); for the rest see
    /// [`Strands::chill`].
    ///
    /// # Errors
    ///
    /// If the store serves nobody, or its directory of repositories cannot be read.
    pub async fn chill(&self, now: Timestamp, age: Duration) -> Result<usize, Error> {
        let age = i64::try_from(age.as_nanos()).unwrap_or(i64::MAX);
        let before = now.0.saturating_mul(1_000).saturating_sub(age);
        let mut chilled = 0;
        for info in self.live_for("chill").await? {
            match self.context(&info.name)?.chill(before).await {
                Ok(blocks) => chilled += blocks,
                Err(error) => self.skip("chill", &info.name, error)?,
            }
        }
        Ok(chilled)
    }

    /// The hooks of all repositories, each with its repository's name and how far it was told. For the job that serves them: what cannot be read is
    /// skipped ([`crate::SkipLog`]).
    ///
    /// # Errors
    ///
    /// If the store serves nobody, or its directory of repositories cannot be read.
    pub async fn all_hooks(&self) -> Result<Vec<(Box<str>, Repository, Hook, HookState)>, Error> {
        let mut all = Vec::new();
        for info in self.live_for("hooks").await? {
            let context = self.context(&info.name)?;
            let hooks = match context.hooks_each().await {
                Ok(hooks) => hooks,
                Err(error) => {
                    self.skip("hooks", &info.name, error)?;
                    continue;
                }
            };
            for (name, hook) in hooks {
                match hook {
                    Ok((hook, state)) => {
                        all.push((info.name.clone(), Repository::new(context.clone()), hook, state));
                    }
                    Err(error) => context.skip("hooks", &format_args!("hook {name}"), error)?,
                }
            }
        }
        Ok(all)
    }

    /// The strands that points are kept in: the server folds their overlays ([`Strands::next_to_fold`]).
    pub fn strands(&self) -> &Strands {
        &self.shared.strands
    }

    /// Removes all that is in a repository, then notes that it is gone: unless a series is damaged, which is the error once
    /// the others are gone.
    async fn finish_removal(&self, name: &str, now: Timestamp) -> Result<(), Error> {
        let context = self.context(name)?;
        let (mut range, mut failed) = (Index::Names.range("", None), None);
        loop {
            let page =
                context.store.scan(&context.partition, &range, Direction::Forward, REMOVED_TOGETHER).await?;
            let Some(last) = page.last_key() else { break };
            let number =
                |(_, value)| keys::number_of_value(value).ok_or_else(|| damaged("the number of a name"));
            let numbers = page.rows().map(number).collect::<Result<Vec<u32>, Error>>()?;
            let mut removable = Vec::with_capacity(numbers.len());
            for found in context.find_each(&numbers).await? {
                match found {
                    Ok(found) => removable.extend(found),
                    Err(error) => failed = failed.or(Some(error)),
                }
            }
            if failed.is_some() || removable.is_empty() {
                // What is damaged stays: behind it are others.
                range = keys::after_key(&range, last);
            }
            context.remove_all(removable, now).await?;
        }
        if let Some(error) = failed {
            return Err(error);
        }
        context.remove_master_data().await?;
        let entry = self.entry(name).await?.filter(|entry| entry.state == State::Removing);
        if let Some(entry) = entry {
            let _recount = (name != DEFAULT).then(|| self.shared.places.recount_after());
            self.put(&entry.info, State::Removed, entry.condition).await?;
        }
        Ok(())
    }

    /// A place for a repository to be created; `default` needs none. One that is being removed still has its own.
    async fn take_place(&self, name: &str) -> Result<Option<TenantPlace>, Error> {
        if name == DEFAULT {
            return Ok(None);
        }
        let places = &self.shared.places;
        if self.shared.store.may_lag() {
            // Others create repositories, too.
            drop(places.recount_after());
        }
        let count = || async {
            let counts = |entry: &&Entry| entry.state != State::Removed && &*entry.info.name != DEFAULT;
            Ok::<_, Error>(self.entries().await?.iter().filter(counts).count())
        };
        let max = places.max();
        let refused = || {
            let text =
                format!("repository {name} is not created: tenants_max allows {max} beside `{DEFAULT}`");
            Error::Limit(text)
        };
        places.take(count).await?.ok_or_else(refused).map(Some)
    }

    fn context(&self, name: &str) -> Result<Arc<Context>, Error> {
        let shared = &*self.shared;
        if let Some(context) = shared.contexts.read().get(name) {
            return Ok(context.clone());
        }
        let tenant = tenant_of(name)?;
        let kept = shared.options.definitions_cached_max;
        let context = Context::new(shared.store.clone(), shared.strands.clone(), tenant, kept);
        Ok(shared.contexts.write().entry(name.into()).or_insert_with(|| Arc::new(context)).clone())
    }

    async fn live(&self, name: &str) -> Result<Entry, Error> {
        let entry = self.entry(name).await?;
        entry.filter(|entry| entry.state == State::Live).ok_or_else(|| not_found(name))
    }

    async fn entry(&self, name: &str) -> Result<Option<Entry>, Error> {
        let (store, partition, key) = (&self.shared.store, &self.shared.partition, keys::repository(name));
        let row = match store.get_cached(partition, &key) {
            Some(row) => row,
            None => store.get_linear(partition, &key).await?,
        };
        let Some(row) = row else {
            return Ok(None);
        };
        let (state, info) = take_entry(name, &row.value).ok_or_else(|| damaged("a repository"))?;
        Ok(Some(Entry { state, info, condition: Condition::Version(key, row.stamp) }))
    }

    async fn entries(&self) -> Result<Vec<Entry>, Error> {
        self.entries_each().await?.into_iter().map(|(_, entry)| entry).collect()
    }

    /// The entries for a job, which skips those that cannot be read.
    async fn entries_for(&self, job: &'static str) -> Result<Vec<Entry>, Error> {
        let mut entries = Vec::new();
        for (name, entry) in self.entries_each().await? {
            match entry {
                Ok(entry) => entries.push(entry),
                Err(error) => self.skip(job, &name, error)?,
            }
        }
        Ok(entries)
    }

    /// The repositories for a job, which skips those that cannot be read.
    async fn live_for(&self, job: &'static str) -> Result<Vec<RepositoryInfo>, Error> {
        let entries = self.entries_for(job).await?.into_iter();
        Ok(entries.filter(|entry| entry.state == State::Live).map(|entry| entry.info).collect())
    }

    /// Notes that a job failed on a repository and goes on; the error if the store serves nobody.
    fn skip(&self, job: &'static str, name: &str, error: Error) -> Result<(), Error> {
        if error.is_outage() {
            return Err(error);
        }
        let tenant = tenant_of(name).unwrap_or_default();
        self.shared.strands.skips().note(job, &tenant, &format_args!("repository {name}"), &error);
        Ok(())
    }

    /// All entries by name, each with an error of its own.
    async fn entries_each(&self) -> Result<Vec<(Box<str>, Result<Entry, Error>)>, Error> {
        let (mut range, mut entries) = (keys::repositories(), Vec::new());
        loop {
            let page =
                self.shared.store.scan(&self.shared.partition, &range, Direction::Forward, PAGE).await?;
            for (key, _) in page.rows() {
                let name = keys::name_of_key(key, 1).ok_or_else(|| damaged("a repository"))?;
                let entry = self.entry(name).await.transpose();
                entries.extend(entry.map(|entry| (name.into(), entry)));
            }
            match page.last_key() {
                Some(key) if page.more() => range = keys::after_key(&range, key),
                _ => return Ok(entries),
            }
        }
    }

    async fn put(&self, info: &RepositoryInfo, state: State, condition: Condition) -> Result<bool, Error> {
        let write = Write::PutStamped(keys::repository(&info.name), put_entry(state, info).into());
        self.commit(vec![condition], vec![write], state != State::Live).await
    }

    /// `false`: another writer came first.
    async fn commit(
        &self,
        conditions: Vec<Condition>,
        writes: Vec<Write>,
        reclaims: bool,
    ) -> Result<bool, Error> {
        let Shared { store, partition, write_ids, .. } = &*self.shared;
        let (partition, write_id, change) = (partition.clone(), write_ids.next(), None);
        let commit = Commit { partition, write_id, conditions, writes, change, reclaims };
        match store.commit_known(commit).await {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::Conflict => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

fn not_found(name: &str) -> Error {
    Error::NotFound(format!("repository {name}").into())
}

/// Whose repository has this name.
fn tenant_of(name: &str) -> Result<Tenant, Error> {
    if name == DEFAULT {
        return Ok(Tenant::default());
    }
    let tenant = Tenant::new(name).ok().filter(|tenant| !tenant.name().is_empty());
    tenant
        .ok_or_else(|| Error::Invalid("the name of a repository has 1 to 128 of A-Z a-z 0-9 _ - . :".into()))
}

fn put_entry(state: State, info: &RepositoryInfo) -> Vec<u8> {
    let mut out = Writer::new();
    out.byte(match state {
        State::Live => 0,
        State::Removing => 1,
        State::Removed => 2,
    });
    out.text(&info.description);
    out.time(info.created.0);
    out.0
}

fn take_entry(name: &str, bytes: &[u8]) -> Option<(State, RepositoryInfo)> {
    let mut fields = Reader::new(bytes)?;
    let state = match fields.byte()? {
        0 => State::Live,
        1 => State::Removing,
        2 => State::Removed,
        _ => return None,
    };
    let description = fields.text()?.into();
    Some((state, RepositoryInfo { name: name.into(), description, created: Timestamp(fields.time()?) }))
}
