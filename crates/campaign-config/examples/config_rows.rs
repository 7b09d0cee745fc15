//! The rows over HTTP without the server around them: `campaign run cps --target http://127.0.0.1:1026`.
//! The server's binary offers the same as `twinfold campaign`.

fn main() -> anyhow::Result<std::process::ExitCode> {
    campaign::main(campaign::Known { families: campaign_config::ALL, peers: &[] })
}
