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
