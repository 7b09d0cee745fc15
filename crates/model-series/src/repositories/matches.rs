//! Which hooks a change of the feed concerns: all hooks are in memory, and read anew when one was made, changed or removed.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use store::{Change, ErrorKind, Tenant};

use super::Repositories;
use crate::catalogue::{Context, hook_registry};
use crate::feed::change_records;
use crate::{Error, HookEvent, SeriesChange, ServedHook, ServedHooks};

impl Repositories {
    /// Reads all hooks anew, if any was made, changed or removed since; whether that was so. Once it was asked after a page of the feed was
    /// read, no hook is missed that was there before a change of that page. Cost: a cached look-up, if there is no news; else one scan for each repository.
    /// What cannot be read is skipped ([`crate::SkipLog`]), and stays as it was known.
    ///
    /// # Errors
    ///
    /// If the store serves nobody, or its directory of tenants cannot be read.
    pub async fn refresh_hooks(&self, known: &mut ServedHooks) -> Result<bool, Error> {
        let version = hook_registry(self.store()).version().await?;
        if known.version == Some(version) {
            return Ok(false);
        }
        let mut hooks: HashMap<u32, Vec<Arc<ServedHook>>> = HashMap::new();
        for hook in self.all_hooks(known).await? {
            hooks.entry(hook.tenant.number()).or_default().push(hook);
        }
        *known = ServedHooks { version: Some(version), hooks };
        Ok(true)
    }

    /// Removes the statuses and outboxes of hooks that are gone, also of those whose removal broke off; how many it was. Those that are
    /// still `served` are left for the next time. Cost: a scan of removals under way; if there are any, all hooks are read, and two small
    /// commits made for each removal.
    ///
    /// # Errors
    ///
    /// As [`Repositories::refresh_hooks`]; those of commits.
    pub async fn sweep_hooks(&self, served: &ServedHooks) -> Result<usize, Error> {
        let registry = hook_registry(self.store());
        let removals = registry.removals().await?;
        if removals.is_empty() {
            return Ok(0);
        }
        // Read after the removals: one that is still there is about to go, or stays.
        let mut there = ServedHooks::default();
        self.refresh_hooks(&mut there).await?;
        let used: HashSet<u128> = there.iter().chain(served.iter()).map(|hook| hook.receiver).collect();
        let parts = self.all_parts("hooks").await?;
        let parts: HashMap<u32, &Tenant> = parts.iter().map(|part| (part.number(), part)).collect();
        let mut count = 0;
        for removal in removals.into_iter().filter(|removal| !used.contains(&removal.receiver)) {
            match registry.finish_removal(removal, parts.get(&removal.tenant).copied()).await {
                Ok(()) => count += 1,
                // Its rows go with it; the note goes the next time.
                Err(error) if error.kind() == ErrorKind::TenantRemoved => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(count)
    }

    /// Which hooks some changes of a shard of the feed concern, in the order of the changes. Of a series whose definition cannot be read only
    /// changes of its definition are matched ([`crate::SkipLog`]). Cost: a look-up for each change, and for each of a
    /// repository with hooks one of its definition, and the patterns of those hooks.
    ///
    /// # Errors
    ///
    /// If the store serves nobody.
    pub async fn match_hooks(
        &self,
        known: &ServedHooks,
        (shard, changes): (u32, &[Change]),
    ) -> Result<Vec<(Arc<ServedHook>, HookEvent)>, Error> {
        let mut by_repository: HashMap<u32, Vec<&Change>> = HashMap::new();
        for change in changes {
            let number = change.partition.tenant.number();
            if known.hooks.contains_key(&number) {
                by_repository.entry(number).or_default().push(change);
            }
        }
        let mut matches = Vec::new();
        for (number, changes) in by_repository {
            let Some(hooks) = known.hooks.get(&number) else { continue };
            let Some(tenant) = hooks.first().map(|hook| &hook.tenant) else { continue };
            let context = self.context(tenant).await?;
            match context.match_hooks(hooks, (shard, &changes)).await {
                Ok(matched) => matches.extend(matched),
                // It was removed meanwhile, and its hooks with it.
                Err(_) if tenant.is_ended() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(matches)
    }
}

impl Context {
    async fn match_hooks(
        &self,
        hooks: &[Arc<ServedHook>],
        (shard, changes): (u32, &[&Change]),
    ) -> Result<Vec<(Arc<ServedHook>, HookEvent)>, Error> {
        let records =
            changes.iter().flat_map(|change| change_records(change).map(move |record| (*change, record)));
        let records: Vec<(&Change, SeriesChange)> = records.collect();
        let numbers: Vec<u32> = records.iter().map(|(_, record)| record.series()).collect();
        let found = self.find_each(&numbers).await?;
        let mut matches = Vec::new();
        for ((of, change), found) in records.into_iter().zip(found) {
            // Points of a series that is gone by now: the record of its removal follows.
            let named = change.definition().cloned();
            let found = match found {
                Ok(found) => found.map(|found| found.definition),
                Err(error) => {
                    let number = change.series();
                    self.skip("hooks", &format_args!("changes of series {number}"), error)?;
                    None
                }
            };
            let Some(series) = named.or(found) else { continue };
            for hook in hooks.iter().filter(|hook| hook.filter.wants(&series)) {
                let since = hook.since.get(shard as usize);
                if !since.is_some_and(|since| self.store.came_before(of, *since)) {
                    let event =
                        HookEvent { number: of.number, series: series.clone(), change: change.clone() };
                    matches.push((Arc::clone(hook), event));
                }
            }
        }
        Ok(matches)
    }
}
