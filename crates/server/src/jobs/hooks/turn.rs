//! One hook's turn: the hook as it is now, and where it stands in each shard of the feed.

use model_series::{Cursor, HookStanding, Repository};

/// One hook, and where it stands.
pub(super) struct Turn {
    pub(super) repository: Repository,
    pub(super) repository_name: Box<str>,
    /// As it was last read: before every request.
    pub(super) standing: HookStanding,
    /// By shard of the feed.
    pub(super) seen: Vec<Seen>,
}

/// Where a hook stands in a shard, in memory.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Seen {
    /// Where its state stands.
    pub(super) told: Cursor,
    /// Between there and here nothing was for it.
    pub(super) upto: Cursor,
    /// How many changes that were.
    pub(super) passed: usize,
}

impl Seen {
    /// Nothing beyond its state.
    pub(super) fn at(told: Cursor) -> Self {
        Self { told, upto: told, passed: 0 }
    }
}

/// What became of a look at a shard for a hook.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Step {
    /// There was something.
    Onward,
    /// It has seen all of it.
    AtEnd,
    /// The turn ends.
    End,
}

impl Turn {
    /// Where it stands in a shard.
    pub(super) fn seen_of(&self, shard: u32) -> Seen {
        let seen = self.seen.get(shard as usize).copied();
        seen.unwrap_or_else(|| Seen::at(self.standing.state.cursor(shard)))
    }

    pub(super) fn see(&mut self, shard: u32, seen: Seen) {
        if let Some(slot) = self.seen.get_mut(shard as usize) {
            *slot = seen;
        }
    }

    /// Begins where its state stands, if that has moved.
    pub(super) fn note_told(&mut self, shard: u32) {
        let told = self.standing.state.cursor(shard);
        if told != self.seen_of(shard).told {
            self.see(shard, Seen::at(told));
        }
    }

    /// Passes what was told, or was not for it.
    pub(super) fn pass(&mut self, shard: u32, upto: Cursor, changes: usize) {
        self.note_told(shard);
        let seen = self.seen_of(shard);
        self.see(shard, Seen { upto, passed: seen.passed + changes, ..seen });
    }

    /// Ends the turn where its state stands in this shard.
    pub(super) fn end_at(&mut self, shard: u32) -> Step {
        self.see(shard, Seen::at(self.standing.state.cursor(shard)));
        Step::End
    }

    pub(super) fn name(&self) -> &str {
        &self.standing.hook.name
    }

    /// Reads the hook as it is now; `false` if it is gone, told nothing, or told less than this turn knows of: then
    /// another was made under its name.
    pub(super) async fn renew(&mut self) -> Result<bool, model_series::Error> {
        let Some(now) = self.repository.hook(self.name()).await? else { return Ok(false) };
        let is_same = now.state == self.standing.state;
        let is_active = now.hook.is_active;
        if is_same {
            self.standing = now;
        }
        Ok(is_same && is_active)
    }
}
