//! `twinfold campaign`: which families and which other databases this program offers.

use std::process::ExitCode;

use campaign::peer::Peer;
use campaign::{Args, Known, families};

#[cfg(feature = "peers")]
const PEERS: &[&dyn Peer] = campaign_peers::ALL;
#[cfg(not(feature = "peers"))]
const PEERS: &[&dyn Peer] = &[];

/// Does what `args` say; the exit code is 1 for errors or wrong answers in the load.
pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let families =
        [families::ALL, campaign_graphs::ALL, campaign_config::ALL, campaign_embedded::ALL].concat();
    campaign::run(args, Known { families: &families, peers: PEERS })
}
