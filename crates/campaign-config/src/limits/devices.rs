//! The trees of the jobs: devices of 28 degrees, and books.

use std::fmt::Write as _;

/// Data nodes of a device: itself, its container, and three for each of its 28 degrees.
pub const DEVICE_NODES: u64 = 86;
/// Degrees of a device.
const DEGREES: u64 = 28;
/// The path of the container of devices.
pub const DEVICES: &str = "/openroadm-devices";
/// The path of the shelf that books stand on.
pub const SHELF: &str = "/bookstore/categories[@code='01']";

/// What a device says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// Whether it could be reached.
    pub status: &'static str,
    /// Whether it is in service.
    pub ne_state: &'static str,
}

/// As all devices are at first.
pub const FRESH: State = State { status: "success", ne_state: "inservice" };
/// As they are after a change.
pub const CHANGED: State = State { status: "changed", ne_state: "maintenance" };

/// The key of a device.
pub fn device_id(number: u64) -> String {
    format!("C201-7-1A-{number}")
}

/// The path of a device.
pub fn device_path(number: u64) -> String {
    format!("{DEVICES}/openroadm-device[@device-id='{}']", device_id(number))
}

/// A device as JSON, of about 3.1 KB.
pub fn device(number: u64, state: State, out: &mut String) {
    leaves(number, state, out);
    out.pop();
    out.push_str(r#","org-openroadm-device":{"degree":["#);
    for degree in 1..=DEGREES {
        let comma = if degree > 1 { "," } else { "" };
        let _ = write!(
            out,
            r#"{comma}{{"degree-number":{degree},"circuit-packs":[{{"index":1,"name":"{degree}/0"}}],"connection-ports":[{{"index":1,"port":"{degree}-L1"}}]}}"#
        );
    }
    out.push_str("]}}");
}

/// The key and the leaves of a device.
pub fn leaves(number: u64, State { status, ne_state }: State, out: &mut String) {
    let id = device_id(number);
    let _ = write!(out, r#"{{"device-id":"{id}","status":"{status}","ne-state":"{ne_state}"}}"#);
}

/// A list of devices.
pub fn list(numbers: impl IntoIterator<Item = u64>, one: impl Fn(u64, &mut String)) -> String {
    let mut out = String::from(r#"{"openroadm-device":["#);
    for (place, number) in numbers.into_iter().enumerate() {
        if place > 0 {
            out.push(',');
        }
        one(number, &mut out);
    }
    out.push_str("]}");
    out
}

/// The container of all devices, as the whole tree of an anchor.
pub fn container(numbers: impl IntoIterator<Item = u64>, state: State) -> Vec<u8> {
    let list = list(numbers, |number, out| device(number, state, out));
    format!(r#"{{"campaign-devices:openroadm-devices":{list}}}"#).into_bytes()
}

/// Data nodes of an anchor with so many devices.
pub fn nodes(devices: u64) -> u64 {
    1 + devices * DEVICE_NODES
}

/// A list of books.
pub fn books(numbers: impl IntoIterator<Item = u64>) -> String {
    let mut out = String::from(r#"{"books":["#);
    for (place, number) in numbers.into_iter().enumerate() {
        let comma = if place > 0 { "," } else { "" };
        let (price, year) = (number % 90 + 5, number % 120 + 1900);
        let _ = write!(
            out,
            r#"{comma}{{"title":"Book {number}","lang":"en","price":{price},"authors":["Ada {number}"],"editions":[{year}]}}"#
        );
    }
    out.push_str("]}");
    out
}

/// A shop with one shelf of books, as the whole tree of an anchor.
pub fn shop(numbers: impl IntoIterator<Item = u64>) -> Vec<u8> {
    let books = books(numbers);
    let shelf = format!(r#"{{"code":"01","name":"All",{}"#, books.get(1..).unwrap_or("}"));
    format!(r#"{{"campaign-books:bookstore":{{"bookstore-name":"Harbour","categories":[{shelf}]}}}}"#)
        .into_bytes()
}

#[cfg(test)]
mod tests {
    use serde_json::Value as Json;

    use super::*;
    use crate::tree;

    #[test]
    fn a_device_has_86_nodes_in_three_kilobytes() {
        let mut text = String::new();
        device(7, FRESH, &mut text);
        assert!((2_900..3_400).contains(&text.len()), "{}", text.len());
        let json: Json = serde_json::from_slice(&container(0..10, FRESH)).unwrap();
        assert_eq!(tree::nodes(&json), nodes(10));
        assert_eq!(nodes(1_000), 86_001);
        let leaves: Json =
            serde_json::from_str(&list([3], |number, out| leaves(number, CHANGED, out))).unwrap();
        assert_eq!(leaves["openroadm-device"][0]["status"], "changed");
    }

    #[test]
    fn a_shop_has_a_shelf_of_books() {
        let json: Json = serde_json::from_slice(&shop(0..5)).unwrap();
        assert_eq!(tree::nodes(&json), 7);
        assert_eq!(json["campaign-books:bookstore"]["categories"][0]["books"][4]["title"], "Book 4");
    }
}
