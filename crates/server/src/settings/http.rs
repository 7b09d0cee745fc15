//! What a connection and a request may take.

use clap::ValueEnum;

use crate::cors::CorsOrigins;
use crate::units::{ByteCount, Span};

use super::table::{Field, Table, above_zero, at_least_one, settings_table};

settings_table! {
    /// What a connection and a request may take.
    pub(crate) struct Http, table "http", flags "", heading "HTTP" {
        /// The largest body of a request, before and after decompression
        body_bytes_max: ByteCount = "64MiB", "SIZE";

        /// The largest body of a request that is read piece by piece (bulk writes), before and after decompression
        stream_bytes_max: ByteCount = "4GiB", "SIZE";

        /// How long a client may send nothing of such a body, or take nothing of a streamed answer
        stall_duration_max: Span = "30s", "SPAN";

        /// The deepest nesting of JSON in a body
        depth_max: usize = "64", "LEVELS";

        /// Rows of a page where the client does not say
        page_rows_default: usize = "20", "COUNT";

        /// The most rows of a page
        page_rows_max: usize = "1000", "COUNT";

        /// Open connections; one more gets 503 and is closed
        connections_max: usize = "16384", "COUNT";

        /// Requests under way at once; one more gets 503
        requests_max: usize = "16384", "COUNT";

        /// How long a request may take, its body included
        request_duration_max: Span = "60s", "SPAN";

        /// How long the head of a request, or a TLS handshake, may take from its first byte on
        header_duration_max: Span = "10s", "SPAN";

        /// How long a connection may be idle
        idle_duration_max: Span = "10m", "SPAN";

        /// The largest head of a request
        header_bytes_max: ByteCount = "64KiB", "SIZE";

        /// The most header fields of a request
        headers_max: usize = "100", "COUNT";

        /// Streams under way on one HTTP/2 connection
        streams_max: u32 = "256", "COUNT";

        /// How long a stop waits for requests under way
        shutdown_duration_max: Span = "30s", "SPAN";

        /// Answers from this size on are compressed if the client accepts it
        compress_bytes_min: ByteCount = "1KiB", "SIZE";

        /// Origins whose pages in browsers may use the APIs, separated by blanks: `https://app.example.org`; `*`: all
        cors_origins: CorsOrigins = "", "ORIGINS";

        /// Who may use /admin: `loopback`, only this machine; `off`, nobody
        admin: Admin = "loopback", "WHO";
    }
}

/// Who may use `/admin`.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Admin {
    /// Clients on this machine that call directly: not through a proxy, not from a page in a browser.
    Loopback,
    /// Nobody.
    Off,
}

impl Http {
    /// Checks the values, and that they fit together.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        at_least_one(&[
            ("page_rows_max", self.page_rows_max),
            ("connections_max", self.connections_max),
            ("requests_max", self.requests_max),
        ])?;
        anyhow::ensure!(
            (1..=self.page_rows_max).contains(&self.page_rows_default),
            "page_rows_default must be between 1 and page_rows_max, {}",
            self.page_rows_max
        );
        anyhow::ensure!(
            (8192..=16 << 20).contains(&self.header_bytes_max.0),
            "header_bytes_max must be between 8KiB and 16MiB"
        );
        above_zero(&[("stall_duration_max", self.stall_duration_max)])
    }
}
