//! K-neighbour: the vertices that are at most a number of steps away from one, the nearest first, each once, without the source.
//!
//! It ends when it has `limit` of them; nothing else bounds it but the depth.

use graph::VertexId;
use model_graph::Reader;

use crate::answer::Reached;
use crate::kout::Found;
use crate::layers::{Layers, place};
use crate::limits::{check_limit, check_positive, limit_of};
use crate::marks::VertexSet;
use crate::walk::Walk;
use crate::{Error, LabelFilter, Step, WalkOptions};

/// What is asked: see the page above.
#[derive(Clone, Debug)]
pub struct Kneighbor {
    /// Where it begins.
    pub source: VertexId,
    /// Which edges are taken.
    pub step: Step,
    /// Filters of the vertices at both ends of each edge; empty: any vertex.
    pub vertex_filters: Vec<LabelFilter>,
    /// At most how many steps away.
    pub max_depth: i64,
    /// The most vertices that are given.
    pub limit: i64,
    /// A shortest way to each.
    pub with_paths: bool,
}

impl Kneighbor {
    /// Refuses numbers that are none of a walk.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`].
    pub fn check(&self) -> Result<(), Error> {
        check_positive(self.max_depth, "k-neighbor max_depth")?;
        self.step.check()?;
        check_limit(self.limit)
    }
}

/// The vertices that are at most a number of steps away from one. Cost: the edges of all that are fewer steps away.
///
/// # Errors
///
/// If a parameter is refused, the source is not there, or the walk ends early.
pub async fn kneighbor(reader: &Reader, options: &WalkOptions, asked: &Kneighbor) -> Result<Reached, Error> {
    asked.check()?;
    let walk = async {
        let mut walk = Walk::new(reader, options);
        let source = walk.begin_at(&asked.source, "source vertex").await?;
        let layers = layers(&mut walk, source, asked).await?;
        let places = 1..layers.len();
        Found { layers, places }.give(walk, &asked.step, asked.with_paths).await
    };
    options.run(walk).await
}

async fn layers(walk: &mut Walk<'_>, source: u32, asked: &Kneighbor) -> Result<Layers, Error> {
    let (mut layers, mut seen) = (Layers::of(source), VertexSet::default());
    seen.insert(source);
    let full = limit_of(asked.limit).saturating_add(1);
    for _ in 0..asked.max_depth {
        let (frontier, base) = (layers.last().to_vec(), place(layers.last_start()));
        let mut expansion = walk.expand(&frontier, &asked.step).between(&asked.vertex_filters);
        while let Some(hops) = expansion.next().await? {
            for hop in hops {
                if seen.insert(hop.target) {
                    layers.push(hop.target, base + hop.place);
                    if layers.len() >= full {
                        layers.close();
                        return Ok(layers);
                    }
                }
            }
            expansion.check_memory(layers.bytes() + seen.bytes() + 4 * frontier.len())?;
        }
        layers.close();
        if layers.last().is_empty() {
            break;
        }
    }
    Ok(layers)
}
