//! How many nodes a text can have at the most, by a look at its bytes: for who asks for memory before it is read.

use memchr::{memchr_iter, memmem};

/// No more containers, entries and values than this are in a text of JSON, whatever the schema. Texts with colons and commas have
/// less; of others it is at most twice what there is. Cost: two fast passes over the text.
pub fn json_nodes_bound(text: &[u8]) -> usize {
    // A value follows the colon of its member, or a comma; the first of an array is counted for its member.
    memchr_iter(b':', text).count() + memchr_iter(b',', text).count()
}

/// The same of XML: the start tags.
pub fn xml_nodes_bound(text: &[u8]) -> usize {
    memchr_iter(b'<', text).count() - memmem::find_iter(text, "</").count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_counted_by_what_is_before_them() {
        let json = br#"{"a:c":{"l":[{"k":"1","v":"x"},{"k":"2"}],"t":["u","v"],"e":[null]}}"#;
        // The container, two entries, three leaves of them, two values, one more.
        assert_eq!((json_nodes_bound(json), json_nodes_bound(b"{}"), json_nodes_bound(b"")), (13, 0, 0));
        let xml = b"<c xmlns='u'><l><k>1</k><v/></l><t>u</t><t>v</t></c>";
        assert_eq!((xml_nodes_bound(xml), xml_nodes_bound(b"<"), xml_nodes_bound(b"")), (6, 1, 0));
    }
}
