//! The campaign without the server around it: `campaign run stellio --target http://HOST:PORT`.
//! The server's binary offers the same as `twinfold campaign`, and can start a server of its own besides.

fn main() -> anyhow::Result<std::process::ExitCode> {
    campaign::main(campaign::Known { families: campaign::families::ALL, peers: &[] })
}
