//! Results over a small graph whose figures are known.

use std::num::NonZeroUsize;

use graph::VertexId;
use serde_json::{Value, json};

use super::super::plan::plan;
use super::*;

/// Two triangles with a bridge, 0-1-2 and 3-4-5; 6 is alone. Ids are texts, but for 0 and 6.
fn whole() -> WholeGraph {
    let edges = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)];
    let ids = [VertexId::Number(7), "1:a".into(), "1:b".into(), "1:c".into(), "1:d".into(), "1:\"e".into()];
    let ids: Vec<_> = ids.into_iter().chain([VertexId::Number(-1)]).collect();
    WholeGraph::of_parts(&ids, Adjacency::from_edges(7, || edges.into_iter()).unwrap())
}

fn outcome(name: &str, parameters: &Value) -> Outcome {
    let plan = plan(name, parameters.as_object().unwrap()).unwrap().unwrap();
    let run = Run::unwatched(NonZeroUsize::MIN);
    compute(&whole(), &[0, 1, 2, 3, 4, 5, 6], &plan, &run).unwrap()
}

#[track_caller]
fn check(name: &str, parameters: &Value, expected: &str) -> Values {
    let Outcome { result, values } = outcome(name, parameters);
    assert_eq!(result, expected, "{name} {parameters}");
    values
}

#[test]
fn centralities_are_objects_by_ids() {
    check("degree_centrality", &json!({}), r#"{"7":2,"1:a":2,"1:b":3,"1:c":3,"1:d":2,"1:\"e":2}"#);
    check("degree_centrality", &json!({"direction": "OUT"}), r#"{"7":2,"1:a":1,"1:b":1,"1:c":2,"1:d":1}"#);
    check("degree_centrality", &json!({"top": 2}), r#"{"1:b":3,"1:c":3}"#);
    let parameters = json!({"depth": 10, "top": 2});
    check("betweenness_centrality", &parameters, r#"{"1:b":12.0,"1:c":12.0}"#);
    check("stress_centrality", &parameters, r#"{"1:b":12,"1:c":12}"#);
    check("closeness_centrality", &json!({"depth": 1, "top": 1}), r#"{"1:b":3.0}"#);
    check("closeness_centrality", &json!({"depth": 2, "top": 3}), r#"{"1:b":4.0,"1:c":4.0,"7":2.5}"#);
    let top = outcome("eigenvector_centrality", &json!({"depth": 100, "top": 2})).result;
    let top: Value = serde_json::from_str(&top).unwrap();
    assert_eq!(top.as_object().unwrap().len(), 2);
    assert!((top["1:b"].as_f64().unwrap() - top["1:c"].as_f64().unwrap()).abs() < 1e-3);
}

#[test]
fn triangles_and_clustering_are_counted() {
    check("triangle_count", &json!({}), r#"{"edges_out":7,"vertices_out":5,"triangles":2}"#);
    check("triangle_count", &json!({"direction": "IN"}), r#"{"edges_in":7,"vertices_in":5,"triangles":2}"#);
    check("triangle_count", &json!({"direction": "BOTH"}), r#"{"edges":7,"vertices":7,"triangles":2}"#);
    let expected = r#"{"edges":7,"vertices":7,"cluster_coefficient":0.3333333333333333}"#;
    check("cluster_coefficient", &json!({}), expected);
    let expected = r#"{"edges_out":7,"vertices_out":5,"cluster_coefficient":1.0}"#;
    check("cluster_coefficient", &json!({"direction": "OUT"}), expected);
}

#[test]
fn communities_are_written_to_vertices() {
    let expected = r#"{"components":2,"iteration_times":1,"times":20}"#;
    let Values::Communities(groups) = check("weak_connected_component", &json!({}), expected) else {
        panic!("no communities")
    };
    assert_eq!(groups.by_vertex(), [0, 0, 0, 0, 0, 0, 1]);
    let Outcome { result, values } = outcome("louvain", &json!({}));
    let result: Value = serde_json::from_str(&result).unwrap();
    assert_eq!((&result["communities"], &result["pass_times"]), (&json!(2), &json!(1)));
    assert!((result["modularity"].as_f64().unwrap() - 5.0 / 14.0).abs() < 1e-9);
    let Values::Communities(groups) = values else { panic!("no communities") };
    assert_eq!(groups.by_vertex(), [0, 0, 0, 1, 1, 1, 2]);
    let all: Value =
        serde_json::from_str(&outcome("louvain", &json!({"skip_isolated": false})).result).unwrap();
    assert_eq!(all["communities"], 3);
    let Outcome { result, values } = outcome("lpa", &json!({}));
    let result: Value = serde_json::from_str(&result).unwrap();
    let Values::CommunitiesById(groups) = values else { panic!("no communities") };
    assert_eq!((&result["times"], &result["communities"]), (&json!(20), &json!(groups.count())));
    check("lpa", &json!({"show_community": "7"}), r#"[7,"1:a","1:b","1:c","1:d","1:\"e",-1]"#);
}

#[test]
fn cores_are_lists_of_ids() {
    check("k_core", &json!({"k": 2}), r#"{"kcores":[[7,"1:a","1:b","1:c","1:d","1:\"e"]]}"#);
    check("k_core", &json!({}), r#"{"kcores":[]}"#);
}

#[test]
fn ranks_are_written_to_vertices_and_shown_if_asked() {
    let Outcome { result, values } =
        outcome("page_rank", &json!({"alpha": 0.15, "top": 1, "precision": 1e-9}));
    let result: Value = serde_json::from_str(&result).unwrap();
    assert_eq!((&result["alpha"], &result["times"]), (&json!(0.15), &json!(20)));
    assert!(result["top"]["1:\"e"].as_f64().unwrap() > 0.2, "{result}");
    let Values::Ranks(ranks) = values else { panic!("no ranks") };
    assert!((ranks.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    let Outcome { result, .. } = outcome("page_rank", &json!({}));
    assert!(!result.contains("top"));
}
