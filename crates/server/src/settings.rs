//! How the server runs: one struct, filled from flags, `TWINFOLD_*` variables, a TOML file and
//! defaults, in this order of precedence. Nothing else in the workspace reads a setting.

mod series;
mod history;
mod load;

use std::path::PathBuf;

use clap::{Args, ValueEnum};

pub(crate) use history::History;
pub(crate) use load::Load;
pub(crate) use series::{HookSend, Series, Switch};

use crate::cors::CorsOrigins;
use crate::units::{ByteCount, Durability, FreeSpace, Span};

/// Everything that can be set. The name of a field is its key in the settings file; its flag has
/// dashes for underscores; its variable is `TWINFOLD_` and the name in capitals.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Settings")]
pub(crate) struct Settings {
    /// TOML file with settings; its keys are the flags' names with underscores
    #[arg(long, env = "TWINFOLD_SETTINGS", value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,

    /// Address to listen on; port 0 takes a free one and prints it
    #[arg(long, env = "TWINFOLD_LISTEN", value_name = "ADDR", default_value = "127.0.0.1:1026")]
    pub(crate) listen: String,

    /// Folder that holds the data; made if it is missing
    #[arg(long, env = "TWINFOLD_DATA", value_name = "DIR", default_value = "./data")]
    pub(crate) data: PathBuf,

    /// Engine: `embedded` keeps data in the folder, `memory` forgets it at exit
    #[arg(long, env = "TWINFOLD_STORE", value_name = "ENGINE", default_value = "embedded")]
    pub(crate) store: Engine,

    /// When a write is acknowledged: `sync`, on disk; `interval:100ms`, before, synced so often
    #[arg(long, env = "TWINFOLD_DURABILITY", value_name = "WHEN", default_value = "sync")]
    pub(crate) durability: Durability,

    /// Parts a tenant's entities are spread over (they move when it changes), and a new repository's series: a power of two
    #[arg(long, env = "TWINFOLD_BUCKETS", value_name = "COUNT", default_value = "1")]
    pub(crate) buckets: u32,

    /// Attributes that are indexed: `by-use`, those that queries were slow without; `all`, every one, for writes that cost half as
    /// much again
    #[arg(long, env = "TWINFOLD_ATTRIBUTE_INDEXES", value_name = "WHICH", default_value = "by-use")]
    pub(crate) attribute_indexes: AttributeIndexes,

    /// Memory for the cache of hot rows
    #[arg(long, env = "TWINFOLD_CACHE_BYTES", value_name = "SIZE", default_value = "256MiB")]
    pub(crate) cache_bytes: ByteCount,

    /// Memory for the engine's cache of blocks
    #[arg(long, env = "TWINFOLD_BLOCK_CACHE_BYTES", value_name = "SIZE", default_value = "128MiB")]
    pub(crate) block_cache_bytes: ByteCount,

    /// Bytes of the disk that are kept free: with less, writes are refused (507) and removals taken; `auto`: the smaller of
    /// 1 GiB and a twentieth of the disk
    #[arg(long, env = "TWINFOLD_DISK_FREE_MIN", value_name = "SIZE", default_value = "auto")]
    pub(crate) disk_free_min: FreeSpace,

    /// The newest changes, in bytes, that the store's feed keeps whatever else
    #[arg(long, env = "TWINFOLD_FEED_BYTES_MIN", value_name = "SIZE", default_value = "64MiB")]
    pub(crate) feed_bytes_min: ByteCount,

    /// The age up to which the feed keeps changes
    #[arg(long, env = "TWINFOLD_FEED_AGE_MIN", value_name = "SPAN", default_value = "1h")]
    pub(crate) feed_age_min: Span,

    /// What the feed keeps at most, be they young or not yet told to hooks
    #[arg(long, env = "TWINFOLD_FEED_BYTES_MAX", value_name = "SIZE", default_value = "1GiB")]
    pub(crate) feed_bytes_max: ByteCount,

    /// Threads that serve; 0: as many as there are cores
    #[arg(long, env = "TWINFOLD_THREADS", value_name = "COUNT", default_value = "0")]
    pub(crate) threads: usize,

    /// How often expired entities and attributes are removed
    #[arg(long, env = "TWINFOLD_PURGE_INTERVAL", value_name = "SPAN", default_value = "10s")]
    pub(crate) purge_interval: Span,

    /// Name by which this broker is known to others (NGSI-LD contextSourceAlias)
    #[arg(long, env = "TWINFOLD_ALIAS", value_name = "NAME", default_value = "twinfold")]
    pub(crate) alias: String,

    /// Folder of JSON-LD contexts that need no fetching; its `contexts.toml` maps URLs to files
    #[arg(long, env = "TWINFOLD_CONTEXTS", value_name = "DIR", help_heading = "Contexts")]
    pub(crate) contexts: Option<PathBuf>,

    /// Whether contexts are fetched: `off`, from `public` addresses, or from `any`, private ones too
    #[arg(
        long,
        env = "TWINFOLD_CONTEXT_FETCH",
        value_name = "FROM",
        default_value = "off",
        help_heading = "Contexts"
    )]
    pub(crate) context_fetch: ContextFetch,

    /// How long a fetch may take
    #[arg(
        long,
        env = "TWINFOLD_CONTEXT_DURATION_MAX",
        value_name = "SPAN",
        default_value = "5s",
        help_heading = "Contexts"
    )]
    pub(crate) context_duration_max: Span,

    /// The largest context
    #[arg(
        long,
        env = "TWINFOLD_CONTEXT_BYTES_MAX",
        value_name = "SIZE",
        default_value = "1MiB",
        help_heading = "Contexts"
    )]
    pub(crate) context_bytes_max: ByteCount,

    /// Redirects a fetch may follow
    #[arg(
        long,
        env = "TWINFOLD_CONTEXT_REDIRECTS_MAX",
        value_name = "COUNT",
        default_value = "3",
        help_heading = "Contexts"
    )]
    pub(crate) context_redirects_max: usize,

    /// Parsed contexts kept in memory
    #[arg(
        long,
        env = "TWINFOLD_CONTEXTS_CACHED_MAX",
        value_name = "COUNT",
        default_value = "1000",
        help_heading = "Contexts"
    )]
    pub(crate) contexts_cached_max: usize,

    #[command(flatten)]
    pub(crate) history: History,

    #[command(flatten)]
    pub(crate) series: Series,

    #[command(flatten)]
    pub(crate) limits: Limits,

    #[command(flatten)]
    pub(crate) load: Load,

    /// Certificate chain (PEM); with it the listener speaks TLS
    #[arg(long, env = "TWINFOLD_TLS_CERT", value_name = "FILE", help_heading = "Security")]
    pub(crate) tls_cert: Option<PathBuf>,

    /// Private key of the certificate (PEM)
    #[arg(long, env = "TWINFOLD_TLS_KEY", value_name = "FILE", help_heading = "Security")]
    pub(crate) tls_key: Option<PathBuf>,

    /// Origins whose pages in browsers may use the APIs, parted by blanks: `https://app.example.org`; `*`: all
    #[arg(
        long,
        env = "TWINFOLD_CORS_ORIGINS",
        value_name = "ORIGINS",
        default_value = "",
        help_heading = "Security"
    )]
    pub(crate) cors_origins: CorsOrigins,

    /// Who may use /admin: `loopback`, only this machine; `off`, nobody
    #[arg(
        long,
        env = "TWINFOLD_ADMIN",
        value_name = "WHO",
        default_value = "loopback",
        help_heading = "Security"
    )]
    pub(crate) admin: Admin,

    /// Form of the log on standard error
    #[arg(
        long,
        env = "TWINFOLD_LOG_FORMAT",
        value_name = "FORMAT",
        default_value = "text",
        help_heading = "Log"
    )]
    pub(crate) log_format: LogFormat,

    /// What is logged: error, warn, info, debug, trace, or by part: `info,access=debug` logs requests
    #[arg(
        long,
        env = "TWINFOLD_LOG_LEVEL",
        value_name = "LEVEL",
        default_value = "info",
        help_heading = "Log"
    )]
    pub(crate) log_level: String,
}

/// Every limit has a name; what is beyond it is refused with an answer that says so.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Limits")]
pub(crate) struct Limits {
    /// The largest body of a request, before and after decompression
    #[arg(long, env = "TWINFOLD_BODY_BYTES_MAX", value_name = "SIZE", default_value = "64MiB")]
    pub(crate) body_bytes_max: ByteCount,

    /// The largest body of a request that is read piece by piece (bulk writes), before and after decompression
    #[arg(long, env = "TWINFOLD_STREAM_BYTES_MAX", value_name = "SIZE", default_value = "4GiB")]
    pub(crate) stream_bytes_max: ByteCount,

    /// How long a client may send nothing of such a body, or take nothing of a streamed answer
    #[arg(long, env = "TWINFOLD_STALL_DURATION_MAX", value_name = "SPAN", default_value = "30s")]
    pub(crate) stall_duration_max: Span,

    /// Rows of a page where the client does not say
    #[arg(long, env = "TWINFOLD_PAGE_ROWS_DEFAULT", value_name = "COUNT", default_value = "20")]
    pub(crate) page_rows_default: usize,

    /// The most rows of a page
    #[arg(long, env = "TWINFOLD_PAGE_ROWS_MAX", value_name = "COUNT", default_value = "1000")]
    pub(crate) page_rows_max: usize,

    /// The most entities of a batch operation
    #[arg(long, env = "TWINFOLD_BATCH_ENTITIES_MAX", value_name = "COUNT", default_value = "10000")]
    pub(crate) batch_entities_max: usize,

    /// The deepest nesting of JSON in a body
    #[arg(long, env = "TWINFOLD_DEPTH_MAX", value_name = "LEVELS", default_value = "64")]
    pub(crate) depth_max: usize,

    /// The most terms of a query's `q`
    #[arg(long, env = "TWINFOLD_Q_NODES_MAX", value_name = "COUNT", default_value = "256")]
    pub(crate) q_nodes_max: usize,

    /// How far `join` follows relationships
    #[arg(long, env = "TWINFOLD_JOIN_LEVEL_MAX", value_name = "LEVELS", default_value = "10")]
    pub(crate) join_level_max: usize,

    /// The most linked entities in one answer
    #[arg(long, env = "TWINFOLD_JOIN_ENTITIES_MAX", value_name = "COUNT", default_value = "10000")]
    pub(crate) join_entities_max: usize,

    /// The most instances of attributes in one answer about the past; more of them come in parts (206)
    #[arg(long, env = "TWINFOLD_TEMPORAL_INSTANCES_MAX", value_name = "COUNT", default_value = "100000")]
    pub(crate) temporal_instances_max: usize,

    /// The most entities a query may look at
    #[arg(long, env = "TWINFOLD_SCAN_ENTITIES_MAX", value_name = "COUNT", default_value = "1000000")]
    pub(crate) scan_entities_max: usize,

    /// The most matches that can be sorted
    #[arg(long, env = "TWINFOLD_SORT_ENTITIES_MAX", value_name = "COUNT", default_value = "100000")]
    pub(crate) sort_entities_max: usize,

    /// The largest stored entity
    #[arg(long, env = "TWINFOLD_ENTITY_BYTES_MAX", value_name = "SIZE", default_value = "8MiB")]
    pub(crate) entity_bytes_max: ByteCount,

    /// The most names of types and attributes in a tenant
    #[arg(long, env = "TWINFOLD_TERMS_MAX", value_name = "COUNT", default_value = "100000")]
    pub(crate) terms_max: usize,

    /// The most tenants beside the default one
    #[arg(long, env = "TWINFOLD_TENANTS_MAX", value_name = "COUNT", default_value = "1000")]
    pub(crate) tenants_max: usize,

    /// The most repositories of series in a tenant, beside `default`
    #[arg(long, env = "TWINFOLD_REPOSITORIES_MAX", value_name = "COUNT", default_value = "1000")]
    pub(crate) repositories_max: usize,

    /// Open connections; one more gets 503 and is closed
    #[arg(long, env = "TWINFOLD_CONNECTIONS_MAX", value_name = "COUNT", default_value = "16384")]
    pub(crate) connections_max: usize,

    /// Requests under way at once; one more gets 503
    #[arg(long, env = "TWINFOLD_REQUESTS_MAX", value_name = "COUNT", default_value = "16384")]
    pub(crate) requests_max: usize,

    /// How long a request may take, its body included
    #[arg(long, env = "TWINFOLD_REQUEST_DURATION_MAX", value_name = "SPAN", default_value = "60s")]
    pub(crate) request_duration_max: Span,

    /// How long the head of a request, or a TLS handshake, may take from its first byte on
    #[arg(long, env = "TWINFOLD_HEADER_DURATION_MAX", value_name = "SPAN", default_value = "10s")]
    pub(crate) header_duration_max: Span,

    /// How long a connection may be idle
    #[arg(long, env = "TWINFOLD_IDLE_DURATION_MAX", value_name = "SPAN", default_value = "10m")]
    pub(crate) idle_duration_max: Span,

    /// The largest head of a request
    #[arg(long, env = "TWINFOLD_HEADER_BYTES_MAX", value_name = "SIZE", default_value = "64KiB")]
    pub(crate) header_bytes_max: ByteCount,

    /// The most header fields of a request
    #[arg(long, env = "TWINFOLD_HEADERS_MAX", value_name = "COUNT", default_value = "100")]
    pub(crate) headers_max: usize,

    /// Streams under way on one HTTP/2 connection
    #[arg(long, env = "TWINFOLD_STREAMS_MAX", value_name = "COUNT", default_value = "256")]
    pub(crate) streams_max: u32,

    /// How long a stop waits for requests under way
    #[arg(long, env = "TWINFOLD_SHUTDOWN_DURATION_MAX", value_name = "SPAN", default_value = "30s")]
    pub(crate) shutdown_duration_max: Span,

    /// Answers from this size on are compressed if the client accepts it
    #[arg(long, env = "TWINFOLD_COMPRESS_BYTES_MIN", value_name = "SIZE", default_value = "1KiB")]
    pub(crate) compress_bytes_min: ByteCount,
}

/// Where data is kept.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Engine {
    /// In the data folder (RocksDB).
    Embedded,
    /// In memory only, for tests and trials.
    Memory,
}

/// Which attributes are indexed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum AttributeIndexes {
    /// Those that queries were slow without.
    ByUse,
    /// All.
    All,
}

/// From where contexts are fetched.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum ContextFetch {
    /// From nowhere: only built-in, preloaded and hosted contexts.
    Off,
    /// From public addresses.
    Public,
    /// From any address, also of this machine and private networks.
    Any,
}

/// Who may use `/admin`.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Admin {
    /// Clients on this machine that neither a proxy nor a browser speaks for.
    Loopback,
    /// Nobody.
    Off,
}

/// How the log looks.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

impl Settings {
    /// Checks what no single value can tell.
    ///
    /// # Errors
    ///
    /// What does not fit together, and how to mend it.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.tls_cert.is_some() == self.tls_key.is_some(),
            "tls_cert and tls_key belong together: one of them is missing"
        );
        anyhow::ensure!(
            self.buckets.is_power_of_two(),
            "buckets must be a power of two, not {}",
            self.buckets
        );
        let limits = &self.limits;
        anyhow::ensure!(limits.page_rows_max > 0, "page_rows_max must be at least 1");
        anyhow::ensure!(
            (1..=limits.page_rows_max).contains(&limits.page_rows_default),
            "page_rows_default must be between 1 and page_rows_max, {}",
            limits.page_rows_max
        );
        anyhow::ensure!(limits.connections_max > 0, "connections_max must be at least 1");
        anyhow::ensure!(limits.requests_max > 0, "requests_max must be at least 1");
        let header_bytes = limits.header_bytes_max.0;
        anyhow::ensure!(
            (8192..=16 << 20).contains(&header_bytes),
            "header_bytes_max must be between 8KiB and 16MiB"
        );
        anyhow::ensure!(!self.purge_interval.0.is_zero(), "purge_interval must be above 0");
        anyhow::ensure!(!limits.stall_duration_max.0.is_zero(), "stall_duration_max must be above 0");
        crate::wiring::memory_budget(self)?;
        self.load.check()?;
        self.series.check()?;
        self.history.check()?;
        Ok(())
    }
}
