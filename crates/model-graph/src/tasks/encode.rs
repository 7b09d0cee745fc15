//! The stored form of tasks.
//!
//! ```text
//! task = version status name kind input work progress retries result created updated cursor
//! work = 0, or 1 and the kinds and numbers of parts, or 2 and the numbers of index labels, or 3 and the number of a property key
//! ```

use bytes::Bytes;
use graph::schema::{PartId, SchemaKind};
use graph::{IndexLabelId, PropertyKeyId};
use store::Timestamp;
use store::wire::{Malformed, Reader, put_bytes, put_i64, put_text, put_varint};

use super::{Task, TaskId, TaskStatus, TaskWork};

const VERSION: u8 = 1;

const OTHER: u8 = 0;
const REMOVE: u8 = 1;
const BUILD: u8 = 2;
const CLEAR: u8 = 3;

impl TaskStatus {
    /// The byte that stands for it in stored bytes.
    pub(super) fn code(self) -> u8 {
        match self {
            Self::New => 1,
            Self::Queued => 2,
            Self::Running => 3,
            Self::Success => 4,
            Self::Cancelling => 5,
            Self::Cancelled => 6,
            Self::Failed => 7,
        }
    }

    fn from_code(code: u8) -> Option<Self> {
        Self::ALL.iter().copied().find(|status| status.code() == code)
    }
}

pub(super) fn put_task(task: &Task) -> Bytes {
    let mut out = vec![VERSION, task.status.code()];
    put_text(&mut out, &task.name);
    put_text(&mut out, &task.kind);
    put_text(&mut out, &task.input);
    put_work(&mut out, &task.work);
    put_varint(&mut out, task.progress);
    put_varint(&mut out, task.retries.into());
    put_text(&mut out, &task.result);
    put_i64(&mut out, task.created.0);
    put_i64(&mut out, task.updated.0);
    put_bytes(&mut out, &task.cursor);
    out.into()
}

fn put_work(out: &mut Vec<u8>, work: &TaskWork) {
    match work {
        TaskWork::Other => out.push(OTHER),
        TaskWork::Remove(parts) => {
            out.push(REMOVE);
            put_varint(out, parts.len() as u64);
            for part in parts {
                out.push(part.kind.code());
                put_varint(out, part.number.into());
            }
        }
        TaskWork::Clear(key) => {
            out.push(CLEAR);
            put_varint(out, key.0.into());
        }
        TaskWork::Build(indexes) => {
            out.push(BUILD);
            put_varint(out, indexes.len() as u64);
            indexes.iter().for_each(|index| put_varint(out, index.0.into()));
        }
    }
}

pub(super) fn take_task(id: TaskId, bytes: &[u8]) -> Result<Task, Malformed> {
    let mut reader = Reader::new(bytes);
    if reader.byte()? != VERSION {
        return Err(Malformed);
    }
    let task = Task {
        id,
        status: TaskStatus::from_code(reader.byte()?).ok_or(Malformed)?,
        name: reader.text()?.into(),
        kind: reader.text()?.into(),
        input: reader.text()?.into(),
        work: take_work(&mut reader)?,
        progress: reader.varint()?,
        retries: reader.varint_u32()?,
        result: reader.text()?.into(),
        created: Timestamp(reader.i64()?),
        updated: Timestamp(reader.i64()?),
        cursor: Bytes::copy_from_slice(reader.bytes()?),
    };
    reader.end().map(|()| task)
}

fn take_work(reader: &mut Reader<'_>) -> Result<TaskWork, Malformed> {
    match reader.byte()? {
        OTHER => Ok(TaskWork::Other),
        REMOVE => {
            let parts = (0..reader.count()?).map(|_| {
                let kind = SchemaKind::from_code(reader.byte()?).ok_or(Malformed)?;
                Ok(PartId { kind, number: reader.varint_u32()? })
            });
            parts.collect::<Result<_, Malformed>>().map(TaskWork::Remove)
        }
        CLEAR => reader.varint_u32().map(|number| TaskWork::Clear(PropertyKeyId(number))),
        BUILD => {
            let indexes = (0..reader.count()?).map(|_| reader.varint_u32().map(IndexLabelId));
            indexes.collect::<Result<_, Malformed>>().map(TaskWork::Build)
        }
        _ => Err(Malformed),
    }
}
