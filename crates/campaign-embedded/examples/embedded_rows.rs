//! The rows in process without the server around them: `campaign run graphdb-embedded`.
//! The server's binary offers the same as `twinfold campaign`.

fn main() -> anyhow::Result<std::process::ExitCode> {
    campaign::main(campaign::Known { families: campaign_embedded::ALL, peers: &[] })
}
