//! The rows in process without the server around them: `campaign run graphdb-embedded`.
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
    campaign::run(args, campaign::Known { families: campaign_embedded::ALL, peers: &[] })
}
