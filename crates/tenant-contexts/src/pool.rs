//! The cache of contexts: parsed ones, the names of tenants in them, fetched documents. Their memory is counted
//! together; beyond the limit the least recently used is evicted first, whatever it is.

use std::any::Any;
use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use lang_jsonld::{MemoryTotal, MemoryUse, text_bytes};
use lru::LruCache;
use model_entities::{Tenant, TenantName};

use crate::hosted::Stored;
use crate::names::Names;
use crate::request_context::RequestContext;

/// What an entry takes in its list, beside the text of its key and its value.
const ENTRY_BYTES: usize = 192;
/// From this number of tenants on, those that were removed are looked for.
const LIVES_UNCHECKED_MAX: usize = 64;

/// How something is named.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Form {
    /// A context, by the URL of a `Link`.
    Link,
    /// A context, by the text of an `@context` member.
    Member,
    /// A document from elsewhere, by its URL.
    Document,
}

/// Whose something is (`None`: all tenants'), and how it is named.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    owner: Option<TenantName>,
    form: Form,
    text: Box<str>,
}

impl Key {
    pub(crate) fn new(owner: Option<&TenantName>, form: Form, text: &str) -> Self {
        Self { owner: owner.cloned(), form, text: text.into() }
    }
}

/// A [`Key`] that owns nothing, to look with.
#[derive(Clone, Copy, Eq, Hash, PartialEq)]
struct Name<'a> {
    owner: Option<&'a TenantName>,
    form: Form,
    text: &'a str,
}

/// What both have in common; entries are looked up by it.
trait Named {
    fn name(&self) -> Name<'_>;
}

impl Named for Name<'_> {
    fn name(&self) -> Name<'_> {
        *self
    }
}

impl Named for Key {
    fn name(&self) -> Name<'_> {
        Name { owner: self.owner.as_ref(), form: self.form, text: &self.text }
    }
}

impl Hash for dyn Named + '_ {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl PartialEq for dyn Named + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for dyn Named + '_ {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Key {}

impl<'a> Borrow<dyn Named + 'a> for Key {
    fn borrow(&self) -> &(dyn Named + 'a) {
        self
    }
}

/// A document from elsewhere.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) stored: Stored,
    /// Whether the store has it, or is being given it.
    pub(crate) is_stored: Arc<AtomicBool>,
}

/// A value in a list.
#[derive(Debug)]
struct Entry<T> {
    value: T,
    /// When it was last used, in uses of the pool.
    used: u64,
    /// The memory of key and entry; parsed contexts and names count their own.
    _memory: MemoryUse,
}

/// What was evicted: to be dropped after the lock is released.
pub(crate) type Evicted = Arc<dyn Any + Send + Sync>;

/// Everything in memory.
#[derive(Debug)]
pub(crate) struct Pool {
    contexts: LruCache<Key, Entry<Arc<RequestContext>>>,
    names: LruCache<(u64, Tenant), Entry<Arc<Names>>>,
    documents: LruCache<Key, Entry<Document>>,
    /// Whose contexts and documents these are: the life of each tenant that was seen last.
    lives: HashMap<TenantName, Tenant>,
    /// With so many lives, those that ended are looked for.
    lives_checked_at: usize,
    uses: u64,
    memory: MemoryTotal,
    bytes_max: usize,
}

impl Pool {
    /// An empty pool for so many contexts, and documents (at least one each), and so many bytes in all.
    pub(crate) fn new(entries_max: usize, bytes_max: usize) -> Self {
        let entries_max = NonZeroUsize::new(entries_max).unwrap_or(NonZeroUsize::MIN);
        Self {
            contexts: LruCache::new(entries_max),
            names: LruCache::unbounded(),
            documents: LruCache::new(entries_max),
            lives: HashMap::new(),
            lives_checked_at: LIVES_UNCHECKED_MAX,
            uses: 0,
            memory: MemoryTotal::default(),
            bytes_max,
        }
    }

    /// Counts the memory of everything in the pool.
    pub(crate) fn memory_total(&self) -> &MemoryTotal {
        &self.memory
    }

    fn entry<T>(&mut self, value: T, bytes: usize) -> Entry<T> {
        self.uses += 1;
        Entry { value, used: self.uses, _memory: self.memory.count(ENTRY_BYTES + bytes) }
    }

    /// A context of the tenant's, or of everybody's. Cost: a hash look-up or two.
    pub(crate) fn context(
        &mut self,
        tenant: &TenantName,
        form: Form,
        text: &str,
    ) -> Option<Arc<RequestContext>> {
        self.forget_removed(tenant);
        self.uses += 1;
        let mut find = |owner| {
            let entry = self.contexts.get_mut(&Name { owner, form, text } as &dyn Named)?;
            entry.used = self.uses;
            Some(Arc::clone(&entry.value))
        };
        find(Some(tenant)).or_else(|| find(None))
    }

    /// Whether what was made for this life of a tenant (`None`: for a tenant that there was not) is of the one that has the name
    /// now: it may have been removed, and made again, meanwhile.
    fn admits(&mut self, name: &TenantName, life: Option<&Tenant>) -> bool {
        if name.is_default() {
            return true;
        }
        self.forget_removed(name);
        match life {
            Some(life) if life.is_ended() => false,
            Some(life) => {
                self.note_life(life);
                true
            }
            None => !self.lives.contains_key(name),
        }
    }

    /// Puts a context that was made for this life of its owner, unless it alone takes more memory than all may.
    pub(crate) fn put_context(
        &mut self,
        key: Key,
        life: Option<&Tenant>,
        context: Arc<RequestContext>,
    ) -> Option<Evicted> {
        if context.bytes() > self.bytes_max || key.owner.as_ref().is_some_and(|name| !self.admits(name, life))
        {
            return None;
        }
        let entry = self.entry(context, text_bytes(key.text.len()));
        self.contexts.push(key, entry).map(|(_, entry)| entry.value as Evicted)
    }

    /// Forgets contexts and documents of a tenant that was removed, before another of its name meets them. Cost: none for the
    /// default tenant, else a hash look-up.
    fn forget_removed(&mut self, name: &TenantName) {
        if !name.is_default() && self.lives.get(name).is_some_and(Tenant::is_ended) {
            self.forget(name);
        }
    }

    /// The same of whatever is there under a name.
    fn forget(&mut self, name: &TenantName) {
        self.lives.remove(name);
        self.forget_of(|owner| owner == name);
    }

    fn forget_of(&mut self, is_gone: impl Fn(&TenantName) -> bool) {
        let is_own = |key: &&Key| key.owner.as_ref().is_some_and(&is_gone);
        let contexts: Vec<Key> = self.contexts.iter().map(|(key, _)| key).filter(is_own).cloned().collect();
        let documents: Vec<Key> = self.documents.iter().map(|(key, _)| key).filter(is_own).cloned().collect();
        contexts.iter().for_each(|key| drop(self.contexts.pop(key)));
        documents.iter().for_each(|key| drop(self.documents.pop(key)));
    }

    /// Notes the life of a tenant that contexts and documents of its name are of from now on.
    fn note_life(&mut self, tenant: &Tenant) {
        let name = tenant.to_name();
        match self.lives.get(&name) {
            Some(known) if known == tenant => return,
            Some(_) => self.forget(&name),
            None => {}
        }
        if self.lives.len() >= self.lives_checked_at {
            self.forget_all_removed();
        }
        self.lives.insert(name, tenant.clone());
    }

    /// Forgets what was removed whose name nobody asks for again. Called when lives have doubled since the last time. Cost: all lives,
    /// contexts and documents.
    fn forget_all_removed(&mut self) {
        let removed: HashMap<_, _> = self.lives.extract_if(|_, life| life.is_ended()).collect();
        self.forget_of(|owner| removed.contains_key(owner));
        self.lives_checked_at = LIVES_UNCHECKED_MAX.max(2 * self.lives.len());
    }

    /// The names of a tenant in the context of this number, made if they are not here, and whether they were. Cost: a
    /// hash look-up.
    pub(crate) fn names(
        &mut self,
        context: u64,
        tenant: &Tenant,
        make: impl FnOnce(&MemoryTotal) -> Names,
    ) -> (Arc<Names>, bool) {
        let key = (context, tenant.clone());
        self.uses += 1;
        if let Some(entry) = self.names.get_mut(&key) {
            entry.used = self.uses;
            return (Arc::clone(&entry.value), false);
        }
        if !tenant.is_default() {
            self.note_life(tenant);
        }
        let names = Arc::new(make(&self.memory));
        let entry = self.entry(Arc::clone(&names), 0);
        self.names.put(key, entry);
        (names, true)
    }

    /// A document from elsewhere.
    pub(crate) fn document(&mut self, tenant: &TenantName, url: &str) -> Option<Document> {
        self.forget_removed(tenant);
        self.uses += 1;
        let name = Name { owner: Some(tenant), form: Form::Document, text: url };
        let entry = self.documents.get_mut(&name as &dyn Named)?;
        entry.used = self.uses;
        Some(entry.value.clone())
    }

    /// Caches a document that came for this life of a tenant.
    pub(crate) fn put_document(
        &mut self,
        tenant: &TenantName,
        life: Option<&Tenant>,
        url: &str,
        document: Document,
    ) {
        let bytes = text_bytes(url.len()) + text_bytes(document.stored.text.len());
        if bytes <= self.bytes_max && self.admits(tenant, life) {
            let entry = self.entry(document, bytes);
            self.documents.put(Key::new(Some(tenant), Form::Document, url), entry);
        }
    }

    /// Forgets a document.
    pub(crate) fn remove_document(&mut self, tenant: &TenantName, url: &str) {
        let name = Name { owner: Some(tenant), form: Form::Document, text: url };
        self.documents.pop(&name as &dyn Named);
    }

    /// The tenant's own documents with their URLs, the most recently used first.
    pub(crate) fn documents<'a>(
        &'a mut self,
        tenant: &'a TenantName,
    ) -> impl Iterator<Item = (&'a str, &'a Document)> {
        self.forget_removed(tenant);
        let is_own = move |key: &Key| key.owner.as_ref() == Some(tenant);
        let all = self.documents.iter();
        all.filter(move |(key, _)| is_own(key)).map(|(key, entry)| (&*key.text, &entry.value))
    }

    /// The tenant's own contexts, the most recently used first.
    pub(crate) fn contexts<'a>(
        &'a mut self,
        tenant: &'a TenantName,
    ) -> impl Iterator<Item = &'a Arc<RequestContext>> {
        self.forget_removed(tenant);
        let is_own = move |key: &Key| key.owner.as_ref() == Some(tenant);
        self.contexts.iter().filter(move |(key, _)| is_own(key)).map(|(_, entry)| &entry.value)
    }

    /// Forgets those of the tenant's own contexts that fit; answers what left.
    pub(crate) fn remove_contexts(
        &mut self,
        tenant: &TenantName,
        fits: impl Fn(&RequestContext) -> bool,
    ) -> Vec<Evicted> {
        let is_own = |key: &Key| key.owner.as_ref() == Some(tenant);
        let all = self.contexts.iter();
        let gone = all.filter(|(key, entry)| is_own(key) && fits(&entry.value)).map(|(key, _)| key.clone());
        let gone: Vec<Key> = gone.collect();
        let remove = |key: &Key| self.contexts.pop(key).map(|entry| entry.value as Evicted);
        gone.iter().filter_map(remove).collect()
    }

    /// Whether everything weighs more than it may. Cost: one atomic load.
    pub(crate) fn is_beyond(&self) -> bool {
        self.memory.bytes() > self.bytes_max
    }

    /// What was used longest ago, if everything weighs more than it may; it is out of the pool by now. Dropping it
    /// makes the rest lighter, unless a request is using it.
    pub(crate) fn pop_beyond(&mut self) -> Option<Evicted> {
        if !self.is_beyond() {
            return None;
        }
        let context = self.contexts.peek_lru().map(|(_, entry)| entry.used);
        let names = self.names.peek_lru().map(|(_, entry)| entry.used);
        let document = self.documents.peek_lru().map(|(_, entry)| entry.used);
        let oldest = [context, names, document].into_iter().flatten().min();
        if oldest == context {
            self.contexts.pop_lru().map(|(_, entry)| entry.value as Evicted)
        } else if oldest == names {
            self.names.pop_lru().map(|(_, entry)| entry.value as Evicted)
        } else {
            self.documents.pop_lru().map(|(_, entry)| Arc::new(entry.value) as Evicted)
        }
    }
}

#[cfg(test)]
mod tests {
    use model_entities::{Terms, Timestamp};

    use super::*;
    use crate::source::ContextSource;

    const MAX: usize = 20_000;

    fn context(pool: &Pool, text_length: usize) -> Arc<RequestContext> {
        let source = ContextSource::inline(&format!("\"{}\"", "x".repeat(text_length)));
        Arc::new(
            RequestContext::new(lang_jsonld::Context::core(), source, Timestamp(0))
                .counted(pool.memory_total()),
        )
    }

    fn trim(pool: &mut Pool) {
        while pool.pop_beyond().is_some() {}
    }

    fn has(pool: &mut Pool, tenant: &TenantName, text: &str) -> bool {
        pool.context(tenant, Form::Member, text).is_some()
    }

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let (mut pool, tenant) = (Pool::new(100, MAX), TenantName::default());
        for text in ["a", "b", "c"] {
            let context = context(&pool, 2000);
            pool.put_context(Key::new(Some(&tenant), Form::Member, text), None, context);
        }
        assert!(pool.memory_total().bytes() < MAX);
        assert!(has(&mut pool, &tenant, "a"));
        let large = context(&pool, 3000);
        pool.put_context(Key::new(Some(&tenant), Form::Member, "d"), None, large);
        trim(&mut pool);
        assert!(pool.memory_total().bytes() <= MAX);
        assert!(has(&mut pool, &tenant, "a") && has(&mut pool, &tenant, "d"));
        assert!(!has(&mut pool, &tenant, "b"));
    }

    #[test]
    fn names_go_with_their_context() {
        let (mut pool, tenant) = (Pool::new(100, MAX), TenantName::default());
        let first = context(&pool, 2000);
        let number = first.number();
        pool.put_context(Key::new(Some(&tenant), Form::Member, "a"), None, Arc::clone(&first));
        pool.names(number, &Tenant::default(), |total| Names::new(first, Terms::default(), total));
        let before = pool.memory_total().bytes();
        let second = context(&pool, 7000);
        pool.put_context(Key::new(Some(&tenant), Form::Member, "b"), None, second);
        assert!(pool.memory_total().bytes() > before);
        trim(&mut pool);
        assert!(pool.memory_total().bytes() <= MAX);
        assert_eq!((pool.contexts.len(), pool.names.len()), (1, 0), "{}", pool.memory_total().bytes());
        assert!(has(&mut pool, &tenant, "b"));
    }

    #[tokio::test]
    async fn removed_tenants_are_forgotten_though_nobody_asks_for_them() {
        let memory =
            store::MemoryOptions { clock: store::Clock::System, feed: store::FeedOptions::recommended() };
        let tenants = store::Tenants::new(store::Store::memory(memory));
        let mut pool = Pool::new(10_000, usize::MAX);
        for number in 0..4 * LIVES_UNCHECKED_MAX {
            let name = TenantName::new(&format!("t{number}")).unwrap();
            let created = tenants.create(&name, usize::MAX, None).await.unwrap();
            let store::TenantCreation::Created(tenant) = created else { panic!("{created:?}") };
            let context = context(&pool, 10);
            pool.put_context(Key::new(Some(&name), Form::Member, "a"), None, Arc::clone(&context));
            let make = |total: &MemoryTotal| Names::new(Arc::clone(&context), Terms::default(), total);
            pool.names(context.number(), &tenant, make);
            if number > 0 {
                assert!(tenants.remove(&name).await.unwrap());
            }
        }
        assert!(pool.lives.len() <= LIVES_UNCHECKED_MAX, "{}", pool.lives.len());
        assert!(pool.contexts.len() <= LIVES_UNCHECKED_MAX, "{}", pool.contexts.len());
        assert!(has(&mut pool, &TenantName::new("t0").unwrap(), "a"), "it is there");
    }

    /// What is under way while its tenant is removed, and made again, is nobody's when it comes.
    #[tokio::test]
    async fn what_was_made_for_an_earlier_life_is_not_cached() {
        let memory =
            store::MemoryOptions { clock: store::Clock::System, feed: store::FeedOptions::recommended() };
        let tenants = store::Tenants::new(store::Store::memory(memory));
        let name = TenantName::new("city").unwrap();
        let create = async || match tenants.create(&name, usize::MAX, None).await.unwrap() {
            store::TenantCreation::Created(tenant) => tenant,
            other => panic!("{other:?}"),
        };
        let mut pool = Pool::new(100, usize::MAX);
        let put = |pool: &mut Pool, life: Option<&Tenant>| {
            let made = context(pool, 10);
            pool.put_context(Key::new(Some(&name), Form::Link, "a"), life, made);
            let stored = Stored { text: "{}".into(), created: Timestamp(0) };
            pool.put_document(&name, life, "b", Document { stored, is_stored: Arc::default() });
        };
        let is_cached = |pool: &mut Pool| {
            let [context, document] =
                [pool.context(&name, Form::Link, "a").is_some(), pool.document(&name, "b").is_some()];
            assert_eq!(context, document);
            context
        };
        put(&mut pool, None);
        assert!(is_cached(&mut pool), "of a tenant that is still to be made");
        let first = create().await;
        put(&mut pool, Some(&first));
        assert!(is_cached(&mut pool));
        assert!(tenants.remove(&name).await.unwrap());
        assert!(!is_cached(&mut pool), "though nobody had asked for names");
        let second = create().await;
        put(&mut pool, Some(&first));
        assert!(!is_cached(&mut pool));
        put(&mut pool, Some(&second));
        assert!(is_cached(&mut pool));
        pool.remove_document(&name, "b");
        pool.remove_contexts(&name, |_| true);
        put(&mut pool, None);
        assert!(!is_cached(&mut pool), "it was begun before there was this tenant");
    }

    #[test]
    fn what_weighs_more_than_everything_may_is_not_cached() {
        let (mut pool, tenant) = (Pool::new(100, MAX), TenantName::default());
        let small = context(&pool, 10);
        pool.put_context(Key::new(Some(&tenant), Form::Member, "a"), None, small);
        let large = context(&pool, MAX);
        pool.put_context(Key::new(Some(&tenant), Form::Member, "b"), None, large);
        trim(&mut pool);
        assert!(has(&mut pool, &tenant, "a") && !has(&mut pool, &tenant, "b"));
    }

    #[test]
    fn tenants_have_their_own_and_what_is_everybodys() {
        let (mut pool, one) = (Pool::new(100, MAX), TenantName::default());
        let other = TenantName::new("other").unwrap();
        for (owner, text) in [(Some(&one), "mine"), (Some(&other), "theirs"), (None, "all")] {
            let context = context(&pool, 10);
            pool.put_context(Key::new(owner, Form::Member, text), None, context);
        }
        assert!(
            has(&mut pool, &one, "mine") && has(&mut pool, &one, "all") && !has(&mut pool, &one, "theirs")
        );
        assert_eq!(pool.contexts(&other).count(), 1);
        assert_eq!(pool.remove_contexts(&other, |_| true).len(), 1);
        assert!(has(&mut pool, &one, "mine") && has(&mut pool, &other, "all"));
        assert!(!has(&mut pool, &other, "theirs"));
    }
}
