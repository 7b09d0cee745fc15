//! The rows over HTTP without the server around them: `campaign run cps --target http://127.0.0.1:1026`.
//! The server's binary offers the same as `twinfold campaign`.

use clap::Parser as _;

/// The words before the command, as in the server's binary.
#[derive(clap::Parser)]
struct Words {
    #[command(subcommand)]
    word: Word,
}

#[derive(clap::Subcommand)]
enum Word {
    /// Load tests.
    Campaign(campaign::Args),
}

fn main() -> anyhow::Result<std::process::ExitCode> {
    let Word::Campaign(args) = Words::parse().word;
    campaign::run(args, campaign::Known { families: campaign_config::ALL, peers: &[] })
}
