//! Raft, the list of addresses, and the debugger of the Java virtual machine: parts of HugeGraph that have no sense here. Each is
//! refused in the form of errors, so that a client can say why.

use api_http::{Operation, Request, Response};

use crate::operation::operation;
use crate::problem::Problem;
use crate::state::Api;

/// GET `/raft/list_peers` of a graph
pub(crate) const LIST_PEERS: Operation = raft_operation("listPeers");
/// GET `/raft/get_leader` of a graph
pub(crate) const GET_LEADER: Operation = raft_operation("getLeader");
/// POST `/raft/set_leader` of a graph
pub(crate) const SET_LEADER: Operation = raft_operation("setLeader");
/// POST `/raft/transfer_leader` of a graph
pub(crate) const TRANSFER_LEADER: Operation = raft_operation("transferLeader");
/// POST `/raft/add_peer` of a graph
pub(crate) const ADD_PEER: Operation = raft_operation("addPeer");
/// POST `/raft/remove_peer` of a graph
pub(crate) const REMOVE_PEER: Operation = raft_operation("removePeer");

/// GET `/whiteiplist`
pub(crate) const WHITE_LIST: Operation = list_operation("whiteIpList");
/// POST `/whiteiplist`
pub(crate) const CHANGE_WHITE_LIST: Operation = list_operation("changeWhiteIpList");
/// PUT `/whiteiplist`
pub(crate) const SWITCH_WHITE_LIST: Operation = list_operation("switchWhiteIpList");

/// PUT `/arthas`
pub(crate) const ARTHAS: Operation =
    Operation::new("refused", "arthas", "The debugger of the Java virtual machine: there is none.")
        .refuses(&[501]);

const fn raft_operation(id: &'static str) -> Operation {
    operation("refused", id, "Raft groups of a graph: there are none.").refuses(&[501])
}

const fn list_operation(id: &'static str) -> Operation {
    Operation::new("refused", id, "Addresses that may call: not restricted here.").refuses(&[501])
}

/// Refuses what is asked of raft groups.
pub(crate) async fn raft(_: Api, _: Request) -> Result<Response, Problem> {
    Err(Problem::unsupported("this server has no raft groups"))
}

/// Refuses what is asked of the list of addresses.
pub(crate) async fn white_list(_: Api, _: Request) -> Result<Response, Problem> {
    Err(Problem::unsupported("this server has no list of addresses that may call: use a firewall"))
}

/// Refuses the debugger.
pub(crate) async fn arthas(_: Api, _: Request) -> Result<Response, Problem> {
    Err(Problem::unsupported("this server runs in no Java virtual machine"))
}
