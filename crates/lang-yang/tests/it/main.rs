//! Modules and data as they are published, large sets, and libyang as the oracle.

#[cfg(test)]
mod data;
#[cfg(test)]
mod large;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod published;
