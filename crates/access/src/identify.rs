//! Who asks: a name with a password, or a token that was given for them.

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use lru::LruCache;
use model_graph::{Clock, Generation, Graphs, OBJECTS_MAX, ObjectChange, TenantName, Timestamp};
use parking_lot::Mutex;
use ring::hmac;
use tokio::sync::OnceCell;

use crate::Error;
use crate::directory::{ADMIN, Directory, gone, put};
use crate::passwords::{Passwords, said_password};
use crate::records::{Logout, Origin, Record, TokenKey, User, user_meant};
use crate::role::{Caller, Role};
use crate::tokens::{self, Claims};

/// The most users whose permissions are cached.
const CALLERS_CACHED_MAX: NonZeroUsize = NonZeroUsize::new(1_000).expect("it is not zero");
/// Who made what was there from the start.
const SYSTEM: &str = "system";
/// Whoever asks where nobody need say who he is.
const ANYBODY: &str = "anonymous";
const KEY_BYTES: usize = 32;
/// Of a token's name, and of what it says of the password.
const NAME_BYTES: usize = 16;
const SECOND: i64 = 1_000_000;

/// How users are checked.
#[derive(Clone)]
pub struct AccessOptions {
    /// Whether whoever asks must say who he is.
    pub is_on: bool,
    /// The password of `admin` in tenants where none was set since.
    pub admin_password: Option<String>,
    /// How long a token is good for, and how long at most if the client says.
    pub token_duration: Duration,
    /// The rounds of a stored password.
    pub password_rounds: NonZeroU32,
    /// Fills keys, salts and names of tokens.
    pub random: fn(&mut [u8]),
}

/// How somebody shows who he is.
#[derive(Clone, Copy)]
pub enum Proof<'a> {
    /// By name and password.
    Password(&'a str, &'a str),
    /// By a token.
    Token(&'a str),
}

/// Users of all tenants, and what they may do; clones share.
#[derive(Clone)]
pub struct Users {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) graphs: Graphs,
    pub(crate) clock: Clock,
    pub(crate) passwords: Passwords,
    options: AccessOptions,
    /// Of the password of the settings, made when it is first asked for.
    admin_hash: OnceCell<String>,
    /// By what passwords are compared that were checked before; known to this process alone.
    key: hmac::Key,
    started: Timestamp,
    known: Mutex<Cache>,
    anybody: Arc<Caller>,
}

/// What is cached of users, by tenant and name.
type Cache = LruCache<(TenantName, Box<str>), Arc<Known>>;

/// What is cached of a user.
struct Known {
    /// As of which all of this holds.
    generation: Generation,
    user: User,
    /// Of the password that was found right.
    tag: Option<hmac::Tag>,
    caller: Arc<Caller>,
}

impl std::fmt::Debug for Users {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Users").field("is_on", &self.shared.options.is_on).finish_non_exhaustive()
    }
}

impl Users {
    /// Users among the objects of these graphs' tenants.
    pub fn new(graphs: Graphs, clock: Clock, options: AccessOptions) -> Self {
        let mut key = [0; KEY_BYTES];
        (options.random)(&mut key);
        let shared = Shared {
            graphs,
            started: clock.now(),
            clock,
            passwords: Passwords::new(options.password_rounds, options.random),
            admin_hash: OnceCell::new(),
            key: hmac::Key::new(hmac::HMAC_SHA256, &key),
            known: Mutex::new(LruCache::new(CALLERS_CACHED_MAX)),
            anybody: Arc::new(Caller { user: ANYBODY.into(), role: Role::admin() }),
            options,
        };
        Self { shared: Arc::new(shared) }
    }

    /// Whether whoever asks must say who he is.
    pub fn is_on(&self) -> bool {
        self.shared.options.is_on
    }

    /// Whoever asks where nobody need say who he is: everything is allowed.
    pub fn anybody(&self) -> Arc<Caller> {
        self.shared.anybody.clone()
    }

    /// Who asks. Cost: one read and one hash of some bytes where he asked before and no user was changed since; for a token
    /// two reads more. Otherwise some reads; a password that is new takes some tenths of a second on a thread of its own.
    ///
    /// # Errors
    ///
    /// [`Error::Unknown`], [`Error::Busy`]; if the store refuses.
    pub async fn identify(&self, tenant: &TenantName, proof: Proof<'_>) -> Result<Arc<Caller>, Error> {
        let directory = Directory::of(&self.shared.graphs, tenant).await?;
        match proof {
            Proof::Password(name, password) => {
                Ok(self.by_password(tenant, &directory, name, password).await?.caller.clone())
            }
            Proof::Token(token) => self.by_token(tenant, &directory, token).await,
        }
    }

    /// The user whose password it is, as it was checked: what is read of him later may have another password.
    async fn by_password(
        &self,
        tenant: &TenantName,
        directory: &Directory,
        name: &str,
        password: &str,
    ) -> Result<Arc<Known>, Error> {
        let generation = directory.generation().await?;
        let entry = (tenant.clone(), Box::from(name));
        let known = self.shared.known.lock().get(&entry).cloned();
        let said = said_password(tenant, name, password);
        let was_right = |known: &Arc<Known>| {
            let tag = known.tag.as_ref();
            tag.is_some_and(|tag| hmac::verify(&self.shared.key, &said, tag.as_ref()).is_ok())
        };
        let known = known.filter(was_right);
        if let Some(known) = known.as_ref().filter(|known| known.generation == generation) {
            return Ok(known.clone());
        }
        let user = self.user(directory, &user_named(name)).await?;
        let is_right = match (&user, known) {
            // Others were changed, not this one.
            (Some(user), Some(known)) if known.user.password == user.password => true,
            (Some(user), _) if user.password.is_empty() && user.name == ADMIN => {
                self.shared.passwords.verify(password, self.admin_hash().await?).await?
            }
            (user, _) => {
                let stored = user.as_ref().map(|user| user.password.as_str());
                self.shared.passwords.verify(password, stored).await?
            }
        };
        let Some(user) = user.filter(|_| is_right) else { return Err(Error::Unknown) };
        let tag = Some(hmac::sign(&self.shared.key, &said));
        self.remember(entry, directory, (generation, user, tag)).await
    }

    /// Caches what a user may do.
    async fn remember(
        &self,
        entry: (TenantName, Box<str>),
        directory: &Directory,
        (generation, user, tag): (Generation, User, Option<hmac::Tag>),
    ) -> Result<Arc<Known>, Error> {
        let role = directory.role_of_user(&user).await?;
        let caller = Arc::new(Caller { user: user.name.as_str().into(), role });
        let known = Arc::new(Known { generation, user, tag, caller });
        self.shared.known.lock().put(entry, known.clone());
        Ok(known)
    }

    async fn by_token(
        &self,
        tenant: &TenantName,
        directory: &Directory,
        token: &str,
    ) -> Result<Arc<Caller>, Error> {
        let generation = directory.generation().await?;
        let (claims, key) = self.checked(directory, token).await?;
        let name: Box<str> = claims.user_name.as_str().into();
        let entry = (tenant.clone(), name);
        let known = self.shared.known.lock().get(&entry).cloned();
        if let Some(known) = known.as_ref().filter(|known| known.generation == generation) {
            return if self.is_of(&claims, &key, &known.user) {
                Ok(known.caller.clone())
            } else {
                Err(Error::Unknown)
            };
        }
        let user = self.user(directory, &claims.user_id).await?.ok_or(Error::Unknown)?;
        if !self.is_of(&claims, &key, &user) {
            return Err(Error::Unknown);
        }
        let tag = known.filter(|known| known.user.password == user.password).and_then(|known| known.tag);
        Ok(self.remember(entry, directory, (generation, user, tag)).await?.caller.clone())
    }

    /// What a token says, if it is ours, has not expired and was not given back; and what it is signed by.
    async fn checked(&self, directory: &Directory, token: &str) -> Result<(Claims, hmac::Key), Error> {
        let claims = tokens::said(token).ok_or(Error::Unknown)?;
        let key = directory.get::<TokenKey>("").await?.ok_or(Error::Unknown)?;
        let key = signing_key(&key)?;
        if !tokens::is_signed(token, &key) || claims.exp <= self.seconds() {
            return Err(Error::Unknown);
        }
        let logout = logout_of(&claims);
        if directory.get::<Logout>(&logout.id()).await?.is_some() {
            return Err(Error::Unknown);
        }
        Ok((claims, key))
    }

    /// A token for whoever has this password. Cost: that of [`Users::identify`], and a commit for the first one of the tenant.
    ///
    /// # Errors
    ///
    /// As [`Users::identify`].
    pub async fn log_in(
        &self,
        tenant: &TenantName,
        (name, password): (&str, &str),
        duration: Option<Duration>,
    ) -> Result<String, Error> {
        let directory = Directory::of(&self.shared.graphs, tenant).await?;
        let known = self.by_password(tenant, &directory, name, password).await?;
        let directory = Directory::of_or_create(&self.shared.graphs, tenant).await?;
        let key = self.token_key(&directory).await?;
        let user = &known.user;
        let longest = self.shared.options.token_duration;
        let duration = duration.map_or(longest, |wanted| wanted.min(longest));
        let seconds = i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
        let mut token = [0; NAME_BYTES];
        (self.shared.options.random)(&mut token);
        let claims = Claims {
            user_id: user.id(),
            exp: self.seconds().saturating_add(seconds),
            jti: BASE64.encode(token),
            pwd: self.password_sign(&key, user).ok_or(Error::Unknown)?,
            user_name: user.name.clone(),
        };
        Ok(tokens::signed(&claims, &key))
    }

    /// Takes a token back: nobody is known by it any more. Cost: a read for each of the user's that were given back and have not expired,
    /// one commit.
    ///
    /// # Errors
    ///
    /// [`Error::Unknown`] if it is none; if the store refuses.
    pub async fn log_out(&self, tenant: &TenantName, token: &str) -> Result<(), Error> {
        let directory = Directory::of(&self.shared.graphs, tenant).await?;
        let (claims, key) = self.checked(&directory, token).await?;
        let (directory, claims, key) = (&directory, &claims, &key);
        directory.change(|| self.given_back(directory, claims, key)).await
    }

    /// What takes a token back. Where too many would be stored, all tokens of the user are ended instead: nobody can fill the tenant's room
    /// for them, and a full one stops nobody.
    async fn given_back(
        &self,
        directory: &Directory,
        claims: &Claims,
        key: &hmac::Key,
    ) -> Result<((), Vec<ObjectChange>), Error> {
        let user = self.user(directory, &claims.user_id).await?;
        let mut user = user.filter(|user| self.is_of(claims, key, user)).ok_or(Error::Unknown)?;
        let now = self.seconds();
        let mut expired = directory.list::<Logout>(LOGOUTS_SWEPT).await?;
        expired.retain(|other| other.expires <= now);
        let mut of_user = directory.find::<Logout>("user", &claims.user_id).await?;
        of_user.retain(|other| other.expires > now);
        let stored = directory.generation().await?.count(Logout::KIND).saturating_sub(expired.len());
        let mut changes: Vec<_> = expired.iter().map(gone).collect();
        if of_user.len() < LOGOUTS_OF_USER_MAX && stored < OBJECTS_MAX {
            changes.push(put(&logout_of(claims)));
        } else {
            user.token_epoch = user.token_epoch.wrapping_add(1);
            changes.push(put(&user));
            changes.extend(of_user.iter().map(gone));
        }
        Ok(((), changes))
    }

    /// By what tokens of the tenant are signed; made the first time.
    async fn token_key(&self, directory: &Directory) -> Result<hmac::Key, Error> {
        if let Some(key) = directory.get::<TokenKey>("").await? {
            return signing_key(&key);
        }
        let mut bytes = [0; KEY_BYTES];
        (self.shared.options.random)(&mut bytes);
        let new = TokenKey { key: BASE64.encode(bytes) };
        let new = &new;
        let think = || async move {
            match directory.get::<TokenKey>("").await? {
                Some(key) => Ok((key, Vec::new())),
                None => Ok((new.clone(), vec![put(new)])),
            }
        };
        signing_key(&directory.change(think).await?)
    }

    /// The stored user of this id; or the administrator who is there from the start.
    pub(crate) async fn user(&self, directory: &Directory, id: &str) -> Result<Option<User>, Error> {
        let stored = directory.get::<User>(id).await?;
        Ok(stored.or_else(|| self.first_admin().filter(|admin| admin.id() == id)))
    }

    /// The administrator where none is stored: his password is that of the settings, and none is stored of it.
    pub(crate) fn first_admin(&self) -> Option<User> {
        self.shared.options.admin_password.as_ref()?;
        let origin = Origin::new(SYSTEM, self.shared.started);
        let name = ADMIN.to_owned();
        let (password, phone, email, avatar, description) = (String::new(), None, None, None, None);
        Some(User { name, password, token_epoch: 0, phone, email, avatar, description, origin })
    }

    /// The password of the settings.
    pub(crate) fn admin_password(&self) -> Option<&str> {
        self.shared.options.admin_password.as_deref()
    }

    /// The hash of the password of the settings: guessing it takes as long as guessing a stored one.
    async fn admin_hash(&self) -> Result<Option<&str>, Error> {
        let Some(password) = self.admin_password() else { return Ok(None) };
        let hashed = self.shared.admin_hash.get_or_try_init(|| self.shared.passwords.hash(password));
        Ok(Some(hashed.await?))
    }

    /// Whether a token was given to this user, for his password, and not ended since.
    fn is_of(&self, claims: &Claims, key: &hmac::Key, user: &User) -> bool {
        self.password_sign(key, user).is_some_and(|sign| sign == claims.pwd)
    }

    /// What a token says of a user's password: a new password ends it, and so does a new epoch. `None`: the user has the password of the
    /// settings, and there is none.
    fn password_sign(&self, key: &hmac::Key, user: &User) -> Option<String> {
        let password = match user.password.as_str() {
            "" => self.admin_password()?,
            stored => stored,
        };
        let mut signed = hmac::Context::with_key(key);
        signed.update(password.as_bytes());
        if user.token_epoch > 0 {
            signed.update(&user.token_epoch.to_be_bytes());
        }
        let tag = signed.sign();
        let (sign, _) = tag.as_ref().split_at(NAME_BYTES);
        Some(BASE64.encode(sign))
    }

    fn seconds(&self) -> i64 {
        self.shared.clock.now().0.div_euclid(SECOND)
    }
}

/// How many given back tokens are looked at for those that have expired, each time one more is.
const LOGOUTS_SWEPT: usize = 100;
/// The most given back tokens of one user that have not expired: one in five minutes of a day.
const LOGOUTS_OF_USER_MAX: usize = 300;

/// What is stored of a token that is given back.
fn logout_of(claims: &Claims) -> Logout {
    Logout { token: claims.jti.clone(), user: claims.user_id.clone(), expires: claims.exp }
}

/// The id of a user of exactly this name: who logs in says a name, not an id.
fn user_named(name: &str) -> String {
    // Names have no colon: what looks like an id is no name.
    if name.contains(':') { String::new() } else { user_meant(name) }
}

fn signing_key(key: &TokenKey) -> Result<hmac::Key, Error> {
    let damaged = || Error::Damaged { kind: TokenKey::KIND, id: key.id() };
    let bytes = BASE64.decode(&key.key).map_err(|_| damaged())?;
    Ok(hmac::Key::new(hmac::HMAC_SHA256, &bytes))
}
