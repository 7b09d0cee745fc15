"""pyhugegraph, the client of HugeGraph's project (package hugegraph-python), against a running server: `huge_graph.py URL`.

It does what its users do with a graph: a schema, vertices and edges one by one and in batches, lists by label and property in pages,
all traversers and ranks, rebuilds, variables, tasks, metrics, what the graph is, users and groups, and removals; by the paths of graph spaces, and by
the older ones.
"""

import sys
import time

from pyhugegraph.api.rank import RankManager
from pyhugegraph.api.rebuild import RebuildManager
from pyhugegraph.client import PyHugeClient
from pyhugegraph.structure.rank_data import NeighborRankParameters, NeighborRankStep, PersonalRankParameters
from pyhugegraph.utils.exceptions import NotFoundError, ServerError
from pyhugegraph.utils.huge_requests import HGraphSession


def check(what, got, expected):
    assert got == expected, f"{what}: got {got!r}, expected {expected!r}"


def fails(what, error, call, text=""):
    try:
        call()
    except error as found:
        assert text in str(found), f"{what}: {found}"
        return
    raise AssertionError(f"{what}: no {error.__name__}")


def wait_for(client, task):
    for _ in range(500):
        found = client.task().get_task(task)
        if found["task_status"] in ("success", "failed", "cancelled"):
            return check("status of the task", found["task_status"], "success")
        time.sleep(0.02)
    raise AssertionError(f"task {task} does not end")


def schema(client):
    core = client.version().version()["versions"]["core"]
    assert tuple(int(part) for part in core.split(".")[:3]) >= (1, 7, 0), core
    schema = client.schema()
    for _ in range(2):  # The second time, all of it is there.
        schema.propertyKey("name").asText().ifNotExist().create()
        schema.propertyKey("age").asInt().ifNotExist().create()
        schema.propertyKey("city").asText().ifNotExist().create()
        schema.propertyKey("weight").asDouble().ifNotExist().create()
        schema.vertexLabel("person").properties("name", "age", "city").usePrimaryKeyId().primaryKeys("name").nullableKeys("city").ifNotExist().create()
        schema.vertexLabel("place").properties("name").useCustomizeNumberId().ifNotExist().create()
        schema.edgeLabel("knows").link("person", "person").properties("weight").singleTime().ifNotExist().create()
        schema.edgeLabel("lives").sourceLabel("person").targetLabel("place").ifNotExist().create()
        schema.indexLabel("personByCity").onV("person").by("city").secondary().ifNotExist().create()
        schema.indexLabel("personByAge").onV("person").by("age").range().ifNotExist().create()
    person = schema.getVertexLabel("person")
    check("primary keys", (person.name, person.primaryKeys), ("person", ["name"]))
    check("names of keys", sorted(key.name for key in schema.getPropertyKeys()), ["age", "city", "name", "weight"])
    check("relations", sorted(schema.getRelations()), ["person--knows-->person", "person--lives-->place"])
    check("parts of the schema", sorted(schema.getSchema()), ["edgelabels", "indexlabels", "propertykeys", "vertexlabels"])
    assert "propertyKey" in schema.getSchema("groovy")["schema"]
    fails("a label that is not there", NotFoundError, lambda: schema.getVertexLabel("nobody"))


def elements(client):
    graph = client.graph()
    amara = graph.addVertex("person", {"name": "amara", "age": 41, "city": "Lagos"})
    assert amara.id.endswith(":amara"), amara.id
    bilal = graph.addVertex("person", {"name": "bilal", "age": 19})
    lagos = graph.addVertex("place", {"name": "Lagos"}, id=7)
    check("an id that was given", lagos.id, 7)
    knows = graph.addEdge("knows", amara.id, bilal.id, {"weight": 0.5})
    lives = graph.addEdge("lives", amara.id, lagos.id, {})
    check("the ends of an edge", (knows.outV, knows.inV, lives.inV), (amara.id, bilal.id, 7))
    found = graph.getVertexById(amara.id)
    check("properties", found.properties, {"name": "amara", "age": 41, "city": "Lagos"})
    check("an edge by its id", graph.getEdgeById(knows.id).properties, {"weight": 0.5})

    check("appended", graph.appendVertex(bilal.id, {"city": "Oran"}).properties["city"], "Oran")
    assert "city" not in graph.eliminateVertex(bilal.id, {"city": "Oran"}).properties
    check("appended to an edge", graph.appendEdge(knows.id, {"weight": 0.75}).properties["weight"], 0.75)
    check("by ids", [vertex.id for vertex in graph.getVerticesById([amara.id, 7])], [amara.id, 7])
    check("edges by ids", [edge.id for edge in graph.getEdgesById([knows.id])], [knows.id])
    edges, page = graph.getEdgeByPage(vertex_id=amara.id, direction="OUT", limit=10)
    check("edges of a vertex", (sorted(edge.label for edge in edges), page), (["knows", "lives"], None))

    fails("an unknown label", ServerError, lambda: graph.addVertex("nobody", {}), "Undefined vertex label: 'nobody'")
    fails("an unknown key", ServerError, lambda: graph.addVertex("person", {"name": "x", "age": 1, "no": 1}), "Undefined property key: 'no'")
    fails("an edge into nothing", ServerError, lambda: graph.addEdge("lives", amara.id, 999999999, {}), "Invalid vertex id '999999999'")
    graph.removeEdgeById(lives.id)
    graph.removeVertexById(7)
    fails("a vertex that was removed", NotFoundError, lambda: graph.getVertexById(7))


def batches(client):
    graph = client.graph()
    names = [f"p{number:03}" for number in range(300)]
    people = graph.addVertices([["person", {"name": name, "age": 20 + number % 50, "city": f"city{number % 3}"}] for number, name in enumerate(names)])
    ids = [vertex.id for vertex in people]
    check("ids in order", [id.split(":")[1] for id in ids], names)
    # A ring.
    edges = graph.addEdges([["knows", one, other, "person", "person", {"weight": 1.0}] for one, other in zip(ids, ids[1:] + ids[:1])])
    check("edges", len(edges), 300)

    found, page, pages = [], None, 0
    while True:
        some, page = graph.getVertexByPage("person", 70, page)
        found, pages = found + some, pages + 1
        if not page:
            break
    check("vertices in pages", (len(found), len({vertex.id for vertex in found})), (302, 302))
    assert pages >= 5, pages
    check("by a property", len(graph.getVertexByCondition("person", 1000, properties={"city": "city1"})), 100)
    check("by a range", len(graph.getVertexByCondition("person", 1000, properties={"age": "P.gte(69)"})), 6)


def walks(client):
    walk = client.traverser()
    ids = [vertex.id for vertex in client.graph().getVertexByCondition("person", 1000) if vertex.id.split(":")[1][1:].isdigit()]
    check("the ring", len(ids), 300)
    check("k-out", sorted(walk.k_out(ids[0], 2)["vertices"]), sorted([ids[2], ids[298]]))
    check("k-neighbor", sorted(walk.k_neighbor(ids[0], 2)["vertices"]), sorted([ids[1], ids[2], ids[298], ids[299]]))
    check("shortest path", walk.shortest_path(ids[0], ids[3], 5)["path"], ids[:4])
    check("all shortest paths", len(walk.all_shortest_paths(ids[0], ids[3], 5)["paths"]), 1)
    check("lightest path", walk.weighted_shortest_path(ids[0], ids[3], "weight", 5)["path"]["vertices"], ids[:4])
    check("same neighbours", walk.same_neighbors(ids[0], ids[2])["same_neighbors"], [ids[1]])
    check("rings", walk.rings(ids[0], 5)["rings"], [])
    check("crosspoints", bool(walk.crosspoints(ids[0], ids[2], 2)["crosspoints"]), True)
    check("jaccard similarity", walk.jaccard_similarity(ids[0], ids[2])["jaccard_similarity"], 1 / 3)
    paths = walk.single_source_shortest_path(ids[0], 2)["paths"]
    check("a path to a neighbour", paths[ids[1]]["vertices"], ids[:2])
    check("rays", len(walk.rays(ids[0], 2)["rays"]), 2)
    check("paths", [path["objects"] for path in walk.paths(ids[0], ids[2], 3)["paths"]], [ids[:3]])
    check("vertices by ids", [vertex["id"] for vertex in walk.vertices(ids[0])["vertices"]], ids[:1])


def walks_of_many(client):
    walk = client.traverser()
    ids = [vertex.id for vertex in client.graph().getVertexByCondition("person", 1000) if vertex.id.split(":")[1][1:].isdigit()]
    step = {"direction": "OUT", "labels": ["knows"], "properties": {}}
    check("between some vertices", len(walk.multi_node_shortest_path([ids[0], ids[2], ids[4]], max_depth=5)["paths"]), 3)
    found = walk.advanced_paths({"ids": [ids[0]]}, {"ids": [ids[2]]}, step, 3)["paths"]
    check("paths by a step", [path["objects"] for path in found], [ids[:3]])
    steps = [{**step, "weight_by": "weight", "sample": 1}, {**step, "weight_by": "weight", "sample": 1}]
    found = walk.customized_paths({"ids": [ids[0]]}, steps)["paths"]
    check("paths by steps", [(path["objects"], path["weights"]) for path in found], [(ids[:3], [1.0, 1.0])])
    found = walk.template_paths({"ids": [ids[0]]}, {"ids": [ids[2]]}, [step, step])["paths"]
    check("paths by a template", [path["objects"] for path in found], [ids[:3]])
    pattern = {"steps": [{"direction": "OUT", "labels": ["knows"]}]}
    found = walk.customized_crosspoints({"ids": [ids[0]]}, [pattern])
    check("where paths meet", found["crosspoints"], [ids[1]])
    similar = walk.fusiform_similarity({"ids": [ids[0]]}, "knows", "BOTH", 2, 0.5, 1, 10, "city", 1)
    assert sorted(one["id"] for one in similar["similars"][ids[0]]) == sorted([ids[2], ids[298]]), similar
    rank = RankManager(HGraphSession(client.cfg))
    graph = client.graph()
    oran = graph.addVertex("place", {"name": "Oran"}, id=8)
    for one in ids[:3]:
        graph.addEdge("lives", one, oran.id, {})
    ranks = rank.personal_rank(PersonalRankParameters(source=ids[0], label="lives", with_label="SAME_LABEL"))
    check("who lives where they do", sorted(ranks["personal_ranks"]), ids[1:3])
    graph.removeVertexById(oran.id)
    ranks = rank.neighbor_rank(NeighborRankParameters(source=ids[0], label="knows", steps=[NeighborRankStep("OUT", ["knows"])]))
    assert ids[1] in ranks["ranks"][0] or ids[1] in ranks["ranks"][1], ranks


def administration(client):
    graphs = client.graphs()
    assert "hugegraph" in str(graphs.get_all_graphs()), graphs.get_all_graphs()
    assert "rocksdb" in str(graphs.get_graph_info()), graphs.get_graph_info()
    assert "hugegraph" in str(graphs.get_graph_config()), graphs.get_graph_config()
    assert "1.7.0" in str(graphs.get_version()), graphs.get_version()
    rebuild = RebuildManager(HGraphSession(client.cfg))
    for task in (rebuild.rebuild_indexlabels("personByAge"), rebuild.rebuild_vertexlabels("person"), rebuild.rebuild_edgelabels("knows")):
        wait_for(client, task["task_id"])
    check("by a range, rebuilt", len(client.graph().getVertexByCondition("person", 1000, properties={"age": "P.gte(69)"})), 6)
    last = client.task().list_tasks(status="success", limit=1)["tasks"][0]["id"]
    fails("a task that is done ends no more", ServerError, lambda: client.task().cancel_task(last))
    client.task().delete_task(last)
    fails("a task that was deleted", NotFoundError, lambda: client.task().get_task(last))
    metrics = client.metrics()
    check("metrics", sorted(metrics.get_all_basic_metrics()), ["counters", "gauges", "histograms", "meters", "timers"])
    for part in (metrics.get_gauges_metrics, metrics.get_counters_metrics, metrics.get_meters_metrics, metrics.get_timers_metrics):
        assert part(), part
    assert any(found["TOTAL_REQUEST"] > 0 for found in metrics.get_statistics_metrics().values())
    assert metrics.get_system_metrics()["basic"]["mem_used"] > 0
    check("the store", metrics.get_backend_metrics()["DEFAULT-hugegraph"]["backend"], "rocksdb")


def variables(client):
    variable = client.variable()
    variable.set("owner", "amara")
    check("a variable", variable.get("owner"), {"owner": "amara"})
    check("all variables", variable.all(), {"owner": "amara"})
    variable.remove("owner")
    fails("a variable that was removed", NotFoundError, lambda: variable.get("owner"))


def users(client):
    auth = client.auth()
    user = auth.create_user("boss", "secret", "182", "boss@example.org")
    check("a user", (user["id"], user["user_name"], user["user_password"]), ("-63:boss", "boss", "******"))
    check("changed", auth.modify_user(user["id"], user_email="b@example.org")["user_email"], "b@example.org")
    group = auth.create_group("readers", "may read")
    check("described", auth.modify_group(group["id"], group_description="read")["group_description"], "read")
    target = auth.create_target("people", "hugegraph", "127.0.0.1:8080", [{"type": "VERTEX", "label": "person", "properties": None}])
    belong, access = auth.create_belong(user["id"], group["id"]), auth.grant_accesses(group["id"], target["id"], "READ")
    check("ids", (belong["id"], access["id"]), ("S-63:boss>-82>>S-69:readers", "S-69:readers>-88>11>S-77:people"))
    check("by id", (auth.get_belong(belong["id"])["group"], auth.get_accesses(access["id"])["target"]), (group["id"], target["id"]))
    auth.update_target(target["id"], "people", "hugegraph", "127.0.0.1:8080", [{"type": "ALL"}])
    auth.update_belong(belong["id"], "clerk")
    auth.modify_accesses(access["id"], "all")
    lists = auth.list_users()["users"], auth.list_groups()["groups"], auth.list_targets()["targets"], auth.list_belongs()["belongs"], auth.list_accesses()["accesses"]
    check("all", [len(some) for some in lists], [1, 1, 1, 1, 1])
    auth.revoke_accesses(access["id"])
    auth.delete_belong(belong["id"])
    auth.delete_target(target["id"])
    auth.delete_group(group["id"])
    auth.delete_user(user["id"])
    fails("a user who was removed", NotFoundError, lambda: auth.get_user(user["id"]))


def removals(client):
    graph, schema = client.graph(), client.schema()
    amara = graph.addVertex("person", {"name": "amara", "age": 41, "city": "Lagos"})
    graph.removeVertexById(amara.id)
    schema.edgeLabel("knows").remove()
    schema.indexLabel("personByCity").remove()
    for task in client.task().list_tasks(limit=100)["tasks"]:
        wait_for(client, task["id"])
    check("edges left", graph.getEdgeByPage(limit=10)[0], [])
    check("labels left", [label.name for label in schema.getEdgeLabels()], ["lives"])
    client.graphs().clear_graph_all_data()
    check("keys left", schema.getPropertyKeys() or [], [])


for old in (False, True):
    CLIENT = PyHugeClient(sys.argv[1], "hugegraph", user="admin", pwd="pa")
    if old:
        CLIENT.cfg.gs_supported = False  # As with a server that knows no graph spaces.
    for part in (schema, elements, batches, walks, walks_of_many, administration, variables, users, removals):
        part(CLIENT)
        print(f"ok: pyhugegraph, {part.__name__}" + (", by the older paths" if old else ""))
