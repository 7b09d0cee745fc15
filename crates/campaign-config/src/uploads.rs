//! The family `config-uploads`: modules that are uploaded in an archive as a client of CPS does it, compiled and stored; each upload of
//! other texts than those before, so that nothing of it is there already.

pub mod rows;
mod figures;
mod family;

#[cfg(test)]
mod tests;

pub use family::ConfigUploads;
