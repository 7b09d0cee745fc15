//! Files that come as parts of a form: modules of YANG, alone or in an archive, and data.

use api_http::{FormError, FormLimits, FormPart, Request, RequestStream, read_form};
use lang_yang::{ArchiveError, ArchiveLimits, YangFile, unpack};

use crate::problem::Problem;
use crate::state::Limits;

/// The most parts of a form: no operation has more than two.
const PARTS_MAX: usize = 8;

/// The parts of a request's form.
///
/// # Errors
///
/// 400, 413, 415.
pub(crate) async fn read_parts(
    request: &Request,
    body: RequestStream,
    limits: &Limits,
) -> Result<Vec<FormPart>, Problem> {
    let bytes_max = u64::try_from(limits.upload_bytes_max).unwrap_or(u64::MAX);
    let limits = FormLimits { parts_max: PARTS_MAX, bytes_max };
    Ok(read_form(&request.headers, body, limits, &mut request.memory.share()).await?)
}

/// The part of a field.
///
/// # Errors
///
/// 400 if there is none.
pub(crate) fn part<'a>(parts: &'a [FormPart], name: &str) -> Result<&'a FormPart, Problem> {
    let found = parts.iter().find(|part| part.name == name);
    found.ok_or_else(|| Problem::validation(format!("the form has no part {name}")))
}

/// The modules in a file: itself, or what is in it if it is an archive.
///
/// # Errors
///
/// 400, 413.
pub(crate) fn modules(file: &FormPart, limits: &Limits) -> Result<Vec<YangFile>, Problem> {
    let name = file.file_name.as_deref().unwrap_or("");
    let limits = ArchiveLimits { unpacked_bytes_max: limits.unpacked_bytes_max, ..ArchiveLimits::STANDARD };
    Ok(unpack(name, &file.bytes, &limits)?)
}

/// Words why a file has no modules.
impl From<ArchiveError> for Problem {
    fn from(error: ArchiveError) -> Self {
        match &error {
            ArchiveError::UnsupportedType { file } => Self::bad_request(
                "Unsupported file type.",
                format!("Filename {file} matches none of expected extensions: [.yang, .zip]"),
            ),
            ArchiveError::Empty { .. } => {
                Self::bad_request("Archive contains no YANG resources.", error.to_string())
            }
            ArchiveError::Unreadable { .. } => {
                Self::bad_request("Invalid ZIP archive content.", error.to_string())
            }
            ArchiveError::NotUtf8 { .. } => Self::bad_request("Yang resource is invalid.", error.to_string()),
            ArchiveError::Limit { .. } => Self::too_large(error.to_string()),
        }
    }
}

/// Words why a form is refused.
impl From<FormError> for Problem {
    fn from(error: FormError) -> Self {
        match &error {
            FormError::NotAForm(given) => {
                let mut problem = Self::unsupported_media_type(given);
                problem.details = error.to_string();
                problem
            }
            FormError::TooLarge(_) => Self::too_large(format!("{error} (cps_upload_bytes_max)")),
            FormError::TooManyParts(_) | FormError::Malformed(_) => {
                Self::bad_request("Bad Request", error.to_string())
            }
            FormError::Refused(refusal) => Self::from(refusal),
        }
    }
}
