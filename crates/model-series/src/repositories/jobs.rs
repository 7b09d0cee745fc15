//! What jobs do in the repositories of all tenants. What fails in one of them is skipped.

use std::sync::Arc;
use std::time::Duration;

use store::{Tenant, Timestamp};

use super::Repositories;
use crate::keys::MODEL;
use crate::{Error, ServedHook, ServedHooks};

impl Repositories {
    /// Finishes removals of series that were broken off, and gives their numbers free. For a job: every minute. What
    /// fails is skipped ([`crate::SkipLog`]).
    ///
    /// # Errors
    ///
    /// If the store serves nobody, or its directory of tenants cannot be read.
    pub async fn sweep(&self, now: Timestamp) -> Result<(), Error> {
        self.forget_removed();
        for part in self.all_parts("sweep").await? {
            let sweep = async || {
                let context = self.context(&part).await?;
                let swept = context.sweep_intents().await;
                context.sweep_removals(now).await.and(swept)
            };
            if let Err(error) = sweep().await {
                self.skip("sweep", &part, error)?;
            }
        }
        Ok(())
    }

    /// Removes points that are older than their series keep them, in all repositories; answers how many series lost
    /// some. For a job: every few minutes. What fails is skipped ([`crate::SkipLog`]). Cost: one cached read for each
    /// series with a retention.
    ///
    /// # Errors
    ///
    /// If the store serves nobody, or its directory of tenants cannot be read.
    pub async fn trim_expired(&self, now: Timestamp) -> Result<usize, Error> {
        let mut trimmed = 0;
        for part in self.all_parts("trim").await? {
            match async { self.context(&part).await?.trim_expired(now).await }.await {
                Ok(count) => trimmed += count,
                Err(error) => self.skip("trim", &part, error)?,
            }
        }
        Ok(trimmed)
    }

    /// Packs blocks smaller that end more than `age` before `now`, of all series with compression; answers how many
    /// blocks. For a job: about once a day. What fails is skipped ([`crate::SkipLog`]).
    ///
    /// Cost: all definitions are read, and the state of every series (of every quotation); for the rest see
    /// [`Strands::recompress`].
    ///
    /// # Errors
    ///
    /// If the store serves nobody, or its directory of tenants cannot be read.
    pub async fn recompress(&self, now: Timestamp, age: Duration) -> Result<usize, Error> {
        let age = i64::try_from(age.as_nanos()).unwrap_or(i64::MAX);
        let before = now.0.saturating_mul(1_000).saturating_sub(age);
        let mut recompressed = 0;
        for part in self.all_parts("recompress").await? {
            match async { self.context(&part).await?.recompress(before).await }.await {
                Ok(blocks) => recompressed += blocks,
                Err(error) => self.skip("recompress", &part, error)?,
            }
        }
        Ok(recompressed)
    }

    /// The hooks of all repositories of all tenants. What cannot be read is skipped ([`crate::SkipLog`]), and stays as it is `known`:
    /// only a hook that is seen to be gone is no longer there.
    pub(crate) async fn all_hooks(&self, known: &ServedHooks) -> Result<Vec<Arc<ServedHook>>, Error> {
        let (parts, mut all) = (self.all_parts("hooks").await?, Vec::new());
        let of = |part: &Tenant| known.hooks.get(&part.number()).into_iter().flatten().cloned();
        for part in &parts {
            let hooks = async {
                let context = self.context(part).await?;
                Ok((context.hooks_each().await?, context))
            };
            let (hooks, context) = match hooks.await {
                Ok(found) => found,
                Err(error) => {
                    self.skip("hooks", part, error)?;
                    all.extend(of(part).filter(|hook| !hook.tenant.is_ended()));
                    continue;
                }
            };
            for (name, hook) in hooks {
                match hook {
                    Ok(hook) => all.push(Arc::new(hook)),
                    Err(error) => {
                        context.skip("hooks", &format_args!("hook {name}"), error)?;
                        all.extend(of(part).filter(|hook| hook.hook.name == name));
                    }
                }
            }
        }
        Ok(all)
    }

    /// The repositories of all tenants, for jobs.
    pub(super) async fn all_parts(&self, job: &'static str) -> Result<Vec<Tenant>, Error> {
        let mut parts = Vec::new();
        for part in self.shared.tenants.all_within(MODEL).await? {
            match part {
                Ok(part) => parts.push(part),
                Err(error) => self.skip(job, &Tenant::default(), error.into())?,
            }
        }
        Ok(parts)
    }

    /// Notes that a job failed on a repository and goes on; the error if the store serves nobody.
    fn skip(&self, job: &'static str, part: &Tenant, error: Error) -> Result<(), Error> {
        if error.is_outage() {
            return Err(error);
        }
        if !part.is_ended() {
            self.shared.strands.skips().note(job, part, &"the repository", &error);
        }
        Ok(())
    }
}
