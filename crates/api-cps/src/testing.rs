//! Doors for fuzzing: readers of parameters and bodies, which are private. Not part of the API.

use api_http::{Given, Operation, Params, Request, check_parameters};

use crate::media::Form;
use crate::params;
use crate::routes::{across, query, schema_sets};
use crate::wire::composite::read_composite;
use crate::wire::delta::{names_of, read_report};

/// As deep as bodies nest.
const DEPTH_MAX: usize = 16;

/// Whether parameters are taken: of a write, of a read, of a query across anchors, and of a new schema set.
pub fn parameters(query: &str) -> [bool; 4] {
    const WRITING: Operation = Operation::new("", "write", "").query(&[&[params::XPATH], params::WRITE]);
    let Ok(params) = Params::parse(query) else { return [false; 4] };
    let given = |operation: &'static Operation, read: fn(&Given<'_>) -> bool| {
        let request = Request { params: params.clone(), operation, ..Request::default() };
        check_parameters(&request).is_ok() && read(&Given::of(&request))
    };
    [
        given(&WRITING, |given| {
            params::flag(given, &params::DRY_RUN).is_ok() && params::observed(given).is_ok()
        }),
        given(&query::GET_V1, |given| params::include_descendants(given).is_ok()),
        given(&across::GET, |given| params::descendants(given).is_ok() && params::page(given).is_ok()),
        given(&schema_sets::CREATE, |given| schema_sets::mode(given).is_ok()),
    ]
}

/// Whether a body is a composite query, a report in JSON and one in XML, each with the names of its data.
pub fn bodies(body: &[u8]) -> [bool; 3] {
    let is_report = |form| {
        read_report(form, body, DEPTH_MAX).is_ok_and(|items| {
            let mut data = items.iter().flat_map(|item| [item.source, item.target]).flatten();
            data.all(|data| names_of(form, data, DEPTH_MAX).is_ok())
        })
    };
    [read_composite(body, DEPTH_MAX).is_ok(), is_report(Form::Json), is_report(Form::Xml)]
}
