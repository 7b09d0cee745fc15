//! What a route needs of whoever asks, by method and path. What is not known here is for administrators.

use access::{Action, ResourceType};
use http::Method;

/// What a route needs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Need {
    /// Nothing: nobody need say who he is.
    Nothing,
    /// That he says so; the handler sees to the rest.
    Login,
    /// An action on things of a type in the graph of the path.
    Permission(Action, ResourceType),
    /// That he may run jobs, and read all vertices and edges of the graph of the path: jobs run for nobody, and see all.
    Job,
    /// That he manages the graph space of the path.
    Manager,
    /// That he administers the tenant.
    Admin,
}

/// What the path of a route is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Of<'a> {
    /// The server, users, or graph spaces.
    Server(&'a str),
    /// A graph: what follows its name.
    Graph(&'a str),
}

fn of(path: &str) -> Of<'_> {
    let within =
        path.strip_prefix("/graphspaces/{graphspace}").filter(|rest| !rest.is_empty()).unwrap_or(path);
    within.strip_prefix("/graphs/{graph}").map_or(Of::Server(within), Of::Graph)
}

/// What the route of this method and path needs.
pub(crate) fn need(method: &Method, path: &str) -> Need {
    match of(path) {
        Of::Server(path) => of_server(method, path),
        Of::Graph(rest) => of_graph(method, rest),
    }
}

fn of_server(method: &Method, path: &str) -> Need {
    let is_read = *method == Method::GET;
    match path {
        "/versions" | "/apis" | "/hugegraph/docs" | "/hugegraph/docs/openapi.json" => Need::Nothing,
        // Who has no token yet, or shows one that may have expired.
        "/auth/login" | "/auth/logout" | "/auth/verify" => Need::Nothing,
        "/graphs" | "/graphspaces" | "/graphspaces/profile" | "/graphspaces/{graphspace}" if is_read => {
            Need::Login
        }
        "/graphs/manage" => Need::Manager,
        path if path.starts_with("/auth/") => Need::Login,
        _ => Need::Admin,
    }
}

fn of_graph(method: &Method, rest: &str) -> Need {
    use ResourceType as Type;
    let segments: Vec<&str> = rest.split('/').skip(1).collect();
    let changing = match *method {
        Method::GET => Action::Read,
        Method::DELETE => Action::Delete,
        _ => Action::Write,
    };
    match segments.as_slice() {
        [] if changing == Action::Read => Need::Permission(Action::Read, Type::None),
        [] | ["clear" | "compact" | "conf"] => Need::Manager,
        ["auth", "login" | "logout" | "verify"] => Need::Nothing,
        ["auth", ..] => Need::Login,
        ["mode" | "graph_read_mode" | "snapshot_create" | "snapshot_resume"] => {
            Need::Permission(changing, Type::Status)
        }
        ["schema"] => Need::Permission(changing, Type::Schema),
        ["schema", "propertykeys", ..] => Need::Permission(changing, Type::PropertyKey),
        ["schema", "vertexlabels", ..] => Need::Permission(changing, Type::VertexLabel),
        ["schema", "edgelabels", ..] => Need::Permission(changing, Type::EdgeLabel),
        ["schema", "indexlabels", ..] => Need::Permission(changing, Type::IndexLabel),
        ["graph", "vertices", ..] => Need::Permission(changing, Type::Vertex),
        ["graph", "edges", ..] => Need::Permission(changing, Type::Edge),
        ["traversers", "vertices", ..] => Need::Permission(Action::Read, Type::Vertex),
        // Walks go along edges; with POST they only say more of where.
        ["traversers", ..] => Need::Permission(Action::Read, Type::Edge),
        ["tasks", ..] => Need::Permission(changing, Type::Task),
        ["variables", ..] => Need::Permission(changing, Type::Var),
        ["jobs", "rebuild", ..] => Need::Permission(Action::Write, Type::IndexLabel),
        ["jobs", "algorithm" | "computer", ..] => Need::Job,
        ["jobs", "gremlin"] | ["cypher"] => Need::Permission(Action::Execute, Type::Gremlin),
        _ => Need::Admin,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_need_what_the_original_asks() {
        use Action::{Delete, Execute, Read, Write};
        use ResourceType as Type;
        let check = |method: Method, path: &str, expected: Need| {
            assert_eq!(need(&method, path), expected, "{method} {path}");
        };
        check(Method::GET, "/versions", Need::Nothing);
        check(Method::POST, "/auth/login", Need::Nothing);
        check(Method::POST, "/graphs/{graph}/auth/login", Need::Nothing);
        check(Method::POST, "/graphspaces/{graphspace}/auth/users", Need::Login);
        check(Method::DELETE, "/graphs/{graph}/auth/users/{id}", Need::Login);
        check(Method::GET, "/graphspaces", Need::Login);
        check(Method::POST, "/graphspaces", Need::Admin);
        check(Method::DELETE, "/graphspaces/{graphspace}", Need::Admin);
        check(Method::GET, "/graphspaces/{graphspace}/graphs", Need::Login);
        check(Method::GET, "/graphs", Need::Login);
        check(Method::PUT, "/graphs/manage", Need::Manager);
        for base in ["/graphs/{graph}", "/graphspaces/{graphspace}/graphs/{graph}"] {
            let check = |method: Method, rest: &str, expected: Need| {
                check(method, &format!("{base}{rest}"), expected)
            };
            check(Method::GET, "", Need::Permission(Read, Type::None));
            check(Method::POST, "", Need::Manager);
            check(Method::DELETE, "", Need::Manager);
            check(Method::DELETE, "/clear", Need::Manager);
            check(Method::PUT, "/mode", Need::Permission(Write, Type::Status));
            check(Method::GET, "/schema/vertexlabels/{name}", Need::Permission(Read, Type::VertexLabel));
            check(Method::DELETE, "/schema/propertykeys/{name}", Need::Permission(Delete, Type::PropertyKey));
            check(Method::POST, "/graph/vertices/batch", Need::Permission(Write, Type::Vertex));
            check(Method::DELETE, "/graph/edges/{id}", Need::Permission(Delete, Type::Edge));
            check(Method::POST, "/traversers/kout", Need::Permission(Read, Type::Edge));
            check(Method::GET, "/traversers/vertices/scan", Need::Permission(Read, Type::Vertex));
            check(Method::PUT, "/tasks/{id}", Need::Permission(Write, Type::Task));
            check(Method::POST, "/jobs/algorithm/{name}", Need::Job);
            check(Method::POST, "/jobs/computer/{name}", Need::Job);
            check(Method::PUT, "/jobs/rebuild/indexlabels/{name}", Need::Permission(Write, Type::IndexLabel));
            check(Method::POST, "/cypher", Need::Permission(Execute, Type::Gremlin));
            check(Method::POST, "/raft/add_peer", Need::Admin);
        }
        check(Method::GET, "/metrics", Need::Admin);
        check(Method::POST, "/whiteiplist", Need::Admin);
    }
}
