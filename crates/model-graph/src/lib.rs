//! The graphs of tenants: their directory, schema, writes, reads, queries and tasks, over the store.

mod error;
mod keys;
mod records;
mod hubs;
mod reader;
pub mod write;
mod load;
mod query;
mod state;
mod tasks;
mod variables;
mod objects;
mod handle;
mod split;
mod graphs;
mod work;
#[cfg(feature = "testing")]
pub mod testing;

pub use error::Error;
pub use graphs::{DEFAULT_GRAPH, DEFAULT_SPACE, GraphInfo, GraphOptions, Graphs, SpaceInfo};
pub use handle::{Changed, Graph, Sight};
pub use hubs::Hubs;
pub use load::GraphLoad;
pub use objects::{
    Generation, OBJECT_BYTES_MAX, OBJECT_PAGE_MAX, OBJECTS_MAX, Object, ObjectChange, Objects,
};
pub use query::{Found, Matches, PAGE_TOKEN_BYTES_MAX, VertexRef};
pub use reader::{
    EdgePage, EdgePages, EdgeRef, EdgesBetween, EdgesOfMany, Reader, ReaderContext, StoredEdge, StoredVertex,
    VisibleLabels,
};
pub use split::{Elements, Part};
pub use state::GraphState;
pub use store::{Clock, Deadline, ErrorKind as StoreErrorKind, Range, TenantName, Timestamp};
pub use tasks::{
    TASK_BYTES_MAX, TASK_PAGE_MAX, TASKS_WAITING_MAX, Task, TaskDraft, TaskId, TaskIds, TaskPage, TaskStatus,
    TaskWork, Tasks,
};
pub use variables::{VARIABLE_BYTES_MAX, VARIABLE_NAME_BYTES_MAX, Variables};
pub use work::{PointerSweep, TaskRuns};
