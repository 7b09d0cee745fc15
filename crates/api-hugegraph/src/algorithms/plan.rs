//! What a job is to do: an algorithm with its parameters, checked before a task is made of it.

use serde_json::{Map, Value};

use super::parameters::{Direction, Parameters, Top};
use crate::problem::Problem;

/// An algorithm with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    /// The label of the vertices that count; `None`: all do.
    pub(crate) vertex_label: Option<String>,
    /// The community of the vertices that count, by what an earlier job wrote; `None`: all do.
    pub(crate) community: Option<String>,
    /// Whether label and community say from which vertices paths begin, and not which vertices the graph has.
    pub(crate) is_of_sources: bool,
    /// The label of the edges; `None`: all.
    pub(crate) edge_label: Option<String>,
    /// How many edges of each vertex count.
    pub(crate) degree: Option<u32>,
    pub(crate) work: Work,
}

/// What is computed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Work {
    CountVertices,
    CountEdges,
    Degrees {
        direction: Direction,
        top: Top,
    },
    Paths {
        kind: Paths,
        direction: Direction,
        depth: u32,
        sample: Option<u32>,
        top: Top,
    },
    Eigenvector {
        direction: Direction,
        iterations: u32,
        top: Top,
    },
    Triangles {
        direction: Direction,
        is_coefficient: bool,
    },
    Cores {
        k: u32,
    },
    Components {
        times: u32,
    },
    Labels {
        direction: Direction,
        times: u32,
        precision: f64,
    },
    Louvain {
        times: u32,
        precision: f64,
        skips_isolated: bool,
    },
    /// Rings through vertices, walked from each of them.
    Rings {
        direction: Direction,
        depth: u32,
        /// The most of one vertex, and of all; `None`: all.
        each_limit: Option<u64>,
        limit: Option<u64>,
        counts_only: bool,
    },
    /// Vertices that are similar to each of some.
    Similars {
        direction: Direction,
        min_neighbors: i64,
        alpha: f64,
        min_similars: i64,
        top: i64,
        group: Option<String>,
        min_groups: i64,
        /// The most vertices whose similar ones are given; `None`: all.
        limit: Option<u64>,
    },
    /// Nothing: there are no passes of Louvain to clear.
    ClearPasses,
    /// The vertices of a community that an earlier job wrote.
    Members,
    PageRank {
        direction: Direction,
        alpha: f64,
        times: u32,
        precision: f64,
        top: Top,
    },
}

/// Centralities by shortest paths.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Paths {
    Betweenness,
    Stress,
    Closeness,
}

impl Work {
    /// Whether edges weigh what the property `c_weight` says, if the graph has it.
    pub(crate) fn is_weighted(&self) -> bool {
        matches!(self, Self::Louvain { .. })
    }

    /// Whether it walks from each vertex, and needs no graph in memory.
    pub(crate) fn walks(&self) -> bool {
        matches!(self, Self::Rings { .. } | Self::Similars { .. })
    }

    /// Whether the result is written to the vertices, too.
    pub(crate) fn writes(&self) -> bool {
        match self {
            Self::Components { .. } | Self::Labels { .. } | Self::Louvain { .. } | Self::PageRank { .. } => {
                true
            }
            Self::CountVertices | Self::CountEdges | Self::Degrees { .. } | Self::Paths { .. } => false,
            Self::Eigenvector { .. } | Self::Triangles { .. } | Self::Cores { .. } => false,
            Self::Rings { .. } | Self::Similars { .. } | Self::ClearPasses | Self::Members => false,
        }
    }

    /// Whether edges are looked at.
    pub(crate) fn reads_edges(&self) -> bool {
        !matches!(self, Self::CountVertices | Self::Members | Self::ClearPasses)
    }
}

/// What the algorithm of this name is to do with these parameters; `None` if there is none of this name.
pub(crate) fn plan(name: &str, parameters: &Map<String, Value>) -> Result<Option<Plan>, Problem> {
    let given = Parameters(parameters);
    let work = match name {
        "count_vertex" => given.none().map(|()| Work::CountVertices),
        "count_edge" => given.none().map(|()| Work::CountEdges),
        "degree_centrality" => degrees(&given),
        "betweenness_centrality" => paths(&given, Paths::Betweenness),
        "stress_centrality" => paths(&given, Paths::Stress),
        "closeness_centrality" => paths(&given, Paths::Closeness),
        "eigenvector_centrality" => eigenvector(&given),
        "triangle_count" => triangles(&given, Direction::Out, false),
        "cluster_coefficient" => triangles(&given, Direction::Both, true),
        "k_core" => cores(&given),
        "weak_connected_component" => components(&given),
        "lpa" => labels(&given),
        "louvain" => louvain(&given),
        "page_rank" => page_rank(&given),
        "rings" => rings(&given),
        "fusiform_similarity" => similars(&given),
        "subgraph_stat" => Err(Problem::unsupported(
            "subgraph_stat is not supported: a Groovy script makes the graph that it is about",
        )),
        _ => return Ok(None),
    }?;
    let community = match &work {
        Work::Members => given.text("show_community")?,
        _ => given.text("source_clabel")?,
    };
    Ok(Some(Plan {
        vertex_label: given.text("source_label")?,
        community,
        is_of_sources: matches!(work, Work::Paths { .. }),
        edge_label: given.text("label")?,
        degree: given.degree()?,
        work,
    }))
}

fn degrees(given: &Parameters<'_>) -> Result<Work, Problem> {
    Ok(Work::Degrees { direction: given.direction(Direction::Both)?, top: given.top()? })
}

fn paths(given: &Parameters<'_>, kind: Paths) -> Result<Work, Problem> {
    let depth = given.depth()?;
    given.whole("sample")?;
    let direction = given.direction(Direction::Both)?;
    Ok(Work::Paths { kind, direction, depth, sample: given.source_sample()?, top: given.top()? })
}

fn eigenvector(given: &Parameters<'_>) -> Result<Work, Problem> {
    let iterations = given.depth()?;
    given.whole("sample")?;
    let direction = given.direction(Direction::Both)?;
    given.source_sample()?;
    Ok(Work::Eigenvector { direction, iterations, top: given.top()? })
}

fn triangles(given: &Parameters<'_>, default: Direction, is_coefficient: bool) -> Result<Work, Problem> {
    let direction = given.direction(default)?;
    given.workers(direction)?;
    Ok(Work::Triangles { direction, is_coefficient })
}

fn cores(given: &Parameters<'_>) -> Result<Work, Problem> {
    let k = given.whole("k")?.unwrap_or(3);
    if k <= 1 {
        return Err(Problem::illegal_argument(format!("The k of kcore must be > 1, but got {k}")));
    }
    given.alpha()?;
    given.flag("merged", false)?;
    given.direction(Direction::Both)?;
    given.workers(Direction::Both)?;
    Ok(Work::Cores { k: u32::try_from(k).unwrap_or(u32::MAX) })
}

fn components(given: &Parameters<'_>) -> Result<Work, Problem> {
    given.one_direction()?;
    Ok(Work::Components { times: given.times("times", 20)? })
}

fn labels(given: &Parameters<'_>) -> Result<Work, Problem> {
    given.workers(Direction::Both)?;
    let (times, precision) = (given.times("times", 20)?, given.precision()?);
    let direction = given.direction(Direction::Both)?;
    if given.text("show_community")?.is_some() {
        return Ok(Work::Members);
    }
    Ok(Work::Labels { direction, times, precision })
}

fn louvain(given: &Parameters<'_>) -> Result<Work, Problem> {
    given.workers(Direction::Both)?;
    let (times, precision) = (given.times("times", 20)?, given.precision()?);
    given.times("stable_times", 3)?;
    let skips_isolated = given.flag("skip_isolated", true)?;
    if given.whole("clear")?.is_some() {
        return Ok(Work::ClearPasses);
    }
    for name in ["show_modularity", "export_community"] {
        if given.whole(name)?.is_some() {
            return Err(Problem::unsupported(format!(
                "'{name}' is not supported: louvain writes the communities of its last pass to the property c_label, and the modularity to \
                 the result of its task"
            )));
        }
    }
    if given.text("show_community")?.is_some() {
        return Ok(Work::Members);
    }
    Ok(Work::Louvain { times, precision, skips_isolated })
}

fn page_rank(given: &Parameters<'_>) -> Result<Work, Problem> {
    Ok(Work::PageRank {
        alpha: given.alpha()?,
        times: given.times("times", 20)?,
        precision: given.precision()?,
        direction: given.one_direction()?,
        top: given.top()?,
    })
}

fn rings(given: &Parameters<'_>) -> Result<Work, Problem> {
    let depth = given.depth()?;
    let (each_limit, limit) = (given.limit("each_limit", 1)?, given.limit("limit", 100)?);
    let direction = given.direction(Direction::Both)?;
    let counts_only = given.flag("count_only", false)?;
    given.workers(Direction::Both)?;
    Ok(Work::Rings { direction, depth, each_limit, limit, counts_only })
}

fn similars(given: &Parameters<'_>) -> Result<Work, Problem> {
    let (min_neighbors, alpha) = (given.positive("min_neighbors", 10)?, given.alpha()?);
    let (min_similars, top) = (given.positive("min_similars", 6)?, given.whole("top_similars")?.unwrap_or(0));
    if top < 0 {
        return Err(Problem::illegal_argument(format!(
            "The top_similars parameter must be >= 0, but got: {top}"
        )));
    }
    let (group, min_groups) = (given.text("group_property")?, given.whole("min_groups")?.unwrap_or(0));
    if group.is_some() && min_groups <= 0 {
        return Err(Problem::illegal_argument("Must set min group count when group property set"));
    }
    if group.is_none() && min_groups != 0 {
        return Err(Problem::illegal_argument("Can't set min group count when group property not set"));
    }
    let (limit, direction) = (given.limit("limit", 100)?, given.direction(Direction::Both)?);
    given.workers(Direction::Both)?;
    Ok(Work::Similars { direction, min_neighbors, alpha, min_similars, top, group, min_groups, limit })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn planned(name: &str, parameters: &Value) -> Result<Option<Plan>, String> {
        plan(name, parameters.as_object().expect("an object")).map_err(|problem| problem.message)
    }

    #[test]
    fn defaults_are_those_of_hugegraph() {
        let plan = planned("page_rank", &json!({})).unwrap().unwrap();
        let work = Work::PageRank {
            direction: Direction::Out,
            alpha: 0.5,
            times: 20,
            precision: 0.001,
            top: Top::Unsorted,
        };
        assert_eq!((plan.work, plan.degree, plan.vertex_label), (work, None, None));
        let plan = planned("betweenness_centrality", &json!({"depth": 5, "top": -1, "degree": -1})).unwrap();
        let Some(Plan { work: Work::Paths { depth: 5, top, .. }, is_of_sources: true, .. }) = plan else {
            panic!("{plan:?}")
        };
        assert_eq!(top, Top::Sorted(usize::MAX));
        let plan = planned("lpa", &json!({"show_community": "1:a", "degree": 7, "label": "knows"})).unwrap();
        let plan = plan.unwrap();
        assert_eq!(
            (plan.work, plan.community.as_deref(), plan.degree),
            (Work::Members, Some("1:a"), Some(7))
        );
        assert_eq!(planned("no_such", &json!({})), Ok(None));
    }

    #[test]
    fn what_writes_is_known_before_it_is_done() {
        let check = |name: &str, parameters: Value, expected: bool| {
            let plan = planned(name, &parameters).unwrap().unwrap();
            assert_eq!(plan.work.writes(), expected, "{name} {parameters}");
        };
        for name in ["page_rank", "lpa", "louvain", "weak_connected_component"] {
            check(name, json!({}), true);
        }
        for name in ["count_vertex", "count_edge", "degree_centrality", "triangle_count", "k_core"] {
            check(name, json!({}), false);
        }
        check("lpa", json!({"show_community": "1"}), false);
        check("louvain", json!({"clear": 1}), false);
    }

    #[test]
    fn wrong_parameters_are_refused_in_the_words_of_hugegraph() {
        for (name, parameters, expected) in [
            ("count_vertex", json!({"a": 1}), "Unnecessary parameters: {\"a\":1}"),
            ("page_rank", json!({"alpha": 0}), "The value of alpha must be in range (0, 1], but got 0"),
            ("page_rank", json!({"alpha": "x"}), "Expect double value for parameter 'alpha': '\"x\"'"),
            ("page_rank", json!({"times": 3000}), "The maximum number of iterations is 2048, but got 3000"),
            ("page_rank", json!({"times": 0}), "The times parameter must be > 0 or == -1, but got: 0"),
            (
                "page_rank",
                json!({"precision": 1}),
                "The precision parameter must be in range(0,1), but got: 1",
            ),
            ("page_rank", json!({"top": -2}), "The top parameter must be >= 0 or == -1, but got: -2"),
            (
                "page_rank",
                json!({"direction": "BOTH"}),
                "The value of direction must be either OUT or IN, but got: BOTH",
            ),
            (
                "lpa",
                json!({"direction": "UP"}),
                "The value of direction must be in [OUT, IN, BOTH], but got 'UP'",
            ),
            ("lpa", json!({"degree": 0}), "The max degree parameter must be > 0 or == -1, but got: 0"),
            ("closeness_centrality", json!({}), "Expect 'depth' in parameters: {}"),
            ("closeness_centrality", json!({"depth": 0}), "The value of depth must be > 0, but got 0"),
            ("k_core", json!({"k": 1}), "The k of kcore must be > 1, but got 1"),
            (
                "triangle_count",
                json!({"workers": 2}),
                "The workers must be not set when direction!=BOTH, but got workers=2 and direction=OUT",
            ),
            (
                "louvain",
                json!({"skip_isolated": 1}),
                "Expect boolean value for parameter 'skip_isolated': '1'",
            ),
        ] {
            assert_eq!(planned(name, &parameters), Err(expected.to_owned()), "{name}");
        }
        assert!(planned("louvain", &json!({"export_community": 1})).is_err());
    }
}
