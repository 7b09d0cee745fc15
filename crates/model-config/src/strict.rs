//! What checks a whole tree against all rules of its modules, as libyang does, and the text that it is given.

use std::sync::Arc;

use config::{Depth, Fault, Label, Tree};
use lang_yang::{Strict, Style, write_content_json};

use crate::Error;
use crate::anchor::Anchor;

/// The checker of an anchor. Cost: a look-up; for one that is not in memory its modules are compiled.
pub(crate) async fn checker(anchor: &Anchor) -> Result<Arc<Strict>, Error> {
    let (configs, blobs) = (anchor.configs(), anchor.configs().blobs());
    let source = async || configs.source(anchor.dataspace(), anchor.schema_set()).await;
    configs.shared.schemas.strict((configs.tenant(), &blobs), anchor.schema().hash, source).await
}

/// A tree as JSON (RFC 7951). Cost: O(tree).
pub(crate) fn json_of(tree: &Tree<'_>) -> Result<String, Fault> {
    let content = tree.content(&Label::top(), Depth::All)?.expect("the top is always there");
    let mut json = Vec::new();
    write_content_json(tree.schema(), &content, Style::RFC7951, &mut json);
    Ok(String::from_utf8(json).expect("what is written as JSON is text"))
}
