//! Passwords as they are stored: `$pbkdf2-sha512$i=210000$SALT$HASH`, both in Base64. Computed beside the threads that serve, few at once.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use model_graph::TenantName;
use ring::pbkdf2::{self, PBKDF2_HMAC_SHA512};
use tokio::sync::Semaphore;

use crate::Error;

/// The longest password.
pub const PASSWORD_BYTES_MAX: usize = 1024;
/// How many are computed at once.
const HASHES_AT_ONCE: usize = 2;
/// How many may wait for that.
const HASHES_WAITING_MAX: usize = 64;
/// The most rounds of a stored password that are computed.
const ROUNDS_MAX: u32 = 10_000_000;
const SALT_BYTES: usize = 16;
const HASH_BYTES: usize = 64;
const NAME: &str = "pbkdf2-sha512";

/// Hashes passwords; clones share the slots.
#[derive(Clone, Debug)]
pub(crate) struct Passwords {
    rounds: NonZeroU32,
    random: fn(&mut [u8]),
    slots: Arc<Semaphore>,
    waiting: Arc<AtomicUsize>,
}

/// One that waits or is computed.
struct Waiting(Arc<AtomicUsize>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Passwords {
    pub(crate) fn new(rounds: NonZeroU32, random: fn(&mut [u8])) -> Self {
        let slots = Arc::new(Semaphore::new(HASHES_AT_ONCE));
        Self { rounds, random, slots, waiting: Arc::default() }
    }

    /// What is stored of a password. Cost: some tenths of a second on a thread of its own.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if it is empty or too long, [`Error::Busy`].
    pub(crate) async fn hash(&self, password: &str) -> Result<String, Error> {
        if password.is_empty() {
            return Err(Error::Invalid("The password of user can't be null".to_owned()));
        }
        check_length(password)?;
        let mut salt = [0; SALT_BYTES];
        (self.random)(&mut salt);
        let (rounds, password) = (self.rounds, password.to_owned());
        self.beside(move || {
            let mut hash = [0; HASH_BYTES];
            pbkdf2::derive(PBKDF2_HMAC_SHA512, rounds, &salt, password.as_bytes(), &mut hash);
            format!("${NAME}$i={rounds}${}${}", BASE64.encode(salt), BASE64.encode(hash))
        })
        .await
    }

    /// Whether a password is the stored one. Without one (nobody has the name) it takes as long, and the answer is no.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`].
    pub(crate) async fn verify(&self, password: &str, stored: Option<&str>) -> Result<bool, Error> {
        if password.len() > PASSWORD_BYTES_MAX {
            return Ok(false);
        }
        let parts = stored.map(|stored| parsed(stored).ok_or(()));
        let (rounds, salt, hash) = match parts {
            None => (self.rounds, vec![0; SALT_BYTES], None),
            Some(Ok((rounds, salt, hash))) => (rounds, salt, Some(hash)),
            Some(Err(())) => return Err(Error::Damaged { kind: "user", id: "password".to_owned() }),
        };
        let password = password.to_owned();
        self.beside(move || {
            let other = [0; HASH_BYTES];
            let against = hash.as_deref().unwrap_or(&other);
            let is_same = pbkdf2::verify(PBKDF2_HMAC_SHA512, rounds, &salt, password.as_bytes(), against);
            is_same.is_ok() && hash.is_some()
        })
        .await
    }

    /// Has as many wait as may.
    #[cfg(test)]
    pub(crate) fn fill(&self) {
        self.waiting.fetch_add(HASHES_WAITING_MAX + HASHES_AT_ONCE, Ordering::Relaxed);
    }

    async fn beside<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
        let before = self.waiting.fetch_add(1, Ordering::Relaxed);
        let waiting = Waiting(self.waiting.clone());
        if before >= HASHES_WAITING_MAX + HASHES_AT_ONCE {
            return Err(Error::Busy);
        }
        let slot = self.slots.clone().acquire_owned().await.expect("the slots are never closed");
        // Whoever hangs up does not free the slot before the work is done.
        let done = tokio::task::spawn_blocking(move || {
            let _held = (slot, waiting);
            work()
        });
        Ok(done.await.expect("hashing does not panic, and is not cancelled"))
    }
}

/// What is hashed of a name and a password: no two pairs are the same.
pub(crate) fn said_password(tenant: &TenantName, name: &str, password: &str) -> Vec<u8> {
    let lengths = [tenant.as_str().len(), name.len()].map(|length| (length as u64).to_be_bytes());
    [&lengths.concat(), tenant.as_str().as_bytes(), name.as_bytes(), password.as_bytes()].concat()
}

fn check_length(password: &str) -> Result<(), Error> {
    if password.len() <= PASSWORD_BYTES_MAX {
        return Ok(());
    }
    Err(Error::Invalid(format!("The password of user must have at most {PASSWORD_BYTES_MAX} bytes")))
}

pub(crate) fn parsed(stored: &str) -> Option<(NonZeroU32, Vec<u8>, Vec<u8>)> {
    let mut parts = stored.strip_prefix('$')?.split('$');
    let (name, rounds, salt, hash) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let rounds: NonZeroU32 = rounds.strip_prefix("i=")?.parse().ok()?;
    let is_known = name == NAME && rounds.get() <= ROUNDS_MAX && parts.next().is_none();
    let (salt, hash) = (BASE64.decode(salt).ok()?, BASE64.decode(hash).ok()?);
    (is_known && hash.len() == HASH_BYTES).then_some((rounds, salt, hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passwords() -> Passwords {
        Passwords::new(NonZeroU32::new(10).unwrap(), |bytes| bytes.fill(7))
    }

    #[tokio::test]
    async fn a_password_is_told_from_others() {
        let passwords = passwords();
        let stored = passwords.hash("secret").await.unwrap();
        assert!(stored.starts_with("$pbkdf2-sha512$i=10$"), "{stored}");
        assert!(!stored.contains("secret"));
        assert!(passwords.verify("secret", Some(&stored)).await.unwrap());
        assert!(!passwords.verify("Secret", Some(&stored)).await.unwrap());
        assert!(!passwords.verify("", Some(&stored)).await.unwrap());
        assert!(!passwords.verify("secret", None).await.unwrap());
        for damaged in ["", "$", "$pbkdf2-sha512$i=0$$", "$bcrypt$i=1$AA$AA"] {
            assert!(matches!(passwords.verify("x", Some(damaged)).await, Err(Error::Damaged { .. })));
        }
    }

    #[tokio::test]
    async fn passwords_have_a_length() {
        let passwords = passwords();
        assert!(matches!(passwords.hash("").await, Err(Error::Invalid(_))));
        let longest = "x".repeat(PASSWORD_BYTES_MAX);
        let stored = passwords.hash(&longest).await.unwrap();
        assert!(passwords.verify(&longest, Some(&stored)).await.unwrap());
        let longer = longest + "x";
        assert!(matches!(passwords.hash(&longer).await, Err(Error::Invalid(_))));
        assert!(!passwords.verify(&longer, Some(&stored)).await.unwrap());
    }

    #[tokio::test]
    async fn more_than_may_wait_are_refused() {
        let passwords = passwords();
        passwords.fill();
        assert!(matches!(passwords.hash("secret").await, Err(Error::Busy)));
        passwords.waiting.fetch_sub(1, Ordering::Relaxed);
        assert!(passwords.hash("secret").await.is_ok());
    }
}
