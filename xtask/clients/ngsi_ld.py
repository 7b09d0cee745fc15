"""Public NGSI-LD clients, and what others are known to send, against a running server: `ngsi_ld.py URL ORIGIN`.

ngsildclient does what its users do: connects, guesses the broker, writes, queries, reads history. The rest are requests
as IoT agents, ngsi-go, Stellio's and Orion-LD's tools and pages in browsers send them, by Python's standard library.
ORIGIN is one that the server was told to let in.
"""

import http.client
import json
import sys
import urllib.parse
from datetime import datetime

from ngsildclient import Client, Entity
from ngsildclient.api.helper.temporal import TemporalQuery

URL = urllib.parse.urlsplit(sys.argv[1])
ORIGIN = sys.argv[2]


def check(what, got, expected):
    assert got == expected, f"{what}: got {got!r}, expected {expected!r}"


def ask(method, path, body=None, **headers):
    """One request; status, headers (names in small letters) and the body as text."""
    connection = http.client.HTTPConnection(URL.hostname, URL.port, timeout=60)
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body=json.dumps(body) if body is not None else None, headers=names)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, text


def station(number, pm10, hour):
    entity = Entity("Station", f"client-{number}")
    entity.prop("name", f"Station {number}")
    entity.prop("pm10", pm10, unitcode="GQ", observedat=datetime(2026, 5, 4, hour))
    entity.loc((53.53, 8.14))
    return entity


def client_of_users():
    with Client(hostname=URL.hostname, port=URL.port, tenant="clients") as client:
        assert client.is_connected(raise_for_disconnected=True)
        vendor, version = client.guess_vendor()
        check("vendor by /version", vendor.value, "Orion-LD")
        assert version, "no version"

        # Written one by one, and as a batch.
        first = station(1, 41, 10)
        assert client.create(first)
        assert client.exists(first)
        found = client.get(first)
        check("value that was written", found["pm10"]["value"], 41)
        many = [station(number, 40 + number, 10) for number in range(2, 12)]
        check("entities of a batch", client.batch.upsert(many).n_ok, 10)
        check("entities of a batch once more", client.batch.upsert(many).ok, True)

        # Found by type and value, counted, in pages.
        check("count", client.entities.count(type="Station"), 11)
        high = client.query(type="Station", q="pm10>50")
        check("query by value", [entity.id for entity in high], ["urn:ngsi-ld:Station:client-11"])
        # The client makes its tenant by an entity of its own.
        assert "Station" in client.types.list(), client.types.list()

        # History: three readings of one attribute, as the client asks for them.
        for pm10, hour in ((43, 11), (45, 12)):
            assert client.update(station(1, pm10, hour)), "update"
        past = client.temporal.get(first)
        check("past of one entity", sorted(value for value, _ in past["pm10"]["values"])[-1], 45)
        pasts = client.temporal.query(
            type="Station", q="pm10>50", tq=TemporalQuery().after("2026-05-04T00:00:00Z")
        )
        check("past of those that fit", [troe["id"] for troe in pasts], ["urn:ngsi-ld:Station:client-11"])

        # Contexts.
        client.contexts.add({"@context": {"pm": "https://example.org/pm"}})
        hosted = [url for url in client.contexts.list() if "jsonldContext" in url]
        check("hosted contexts", len(hosted), 1)

        assert client.delete(first)
        assert not client.exists(first)


def iot_agent():
    both = {"Content_Type": "application/json", "fiware_service": "openiot", "fiware_servicepath": "/",
            "NGSILD_Tenant": "openiot", "NGSILD_Path": "/"}
    lamp = {"id": "urn:ngsi-ld:Lamp:1", "type": "Lamp", "on": {"type": "Property", "value": True}}
    path = "/ngsi-ld/v1/entityOperations/upsert/?options=update"
    status, _, text = ask("POST", path, [lamp], **both)
    check("upsert of something new", (status, json.loads(text)), (201, ["urn:ngsi-ld:Lamp:1"]))
    check("upsert of what is there", ask("POST", path, [lamp], **both)[0], 204)
    # Either name of the tenant means the same; a media type on GET says nothing.
    for header in ("Fiware_Service", "NGSILD_Tenant"):
        status, headers, text = ask(
            "GET", "/ngsi-ld/v1/entities/urn:ngsi-ld:Lamp:1", Content_Type="application/json", **{header: "openiot"}
        )
        check(header, (status, json.loads(text)["on"]["value"]), (200, True))
        assert text.endswith("\n"), "no newline at the end"
        check("echo of the tenant", headers["ngsild-tenant"], "openiot")
    check("another tenant", ask("GET", "/ngsi-ld/v1/entities/urn:ngsi-ld:Lamp:1")[0], 404)
    status, headers, _ = ask("POST", "/ngsi-ld/v1/entities/", {**lamp, "id": "urn:ngsi-ld:Lamp:2"}, **both)
    check("location", (status, headers["location"]), (201, "/ngsi-ld/v1/entities/urn:ngsi-ld:Lamp:2"))
    check("removal", ask("DELETE", headers["location"] + "/", **both)[0], 204)


def tools_of_brokers():
    for path in ("/version", "/ngsi-ld/ex/v1/version"):
        assert "orionld version" in json.loads(ask("GET", path)[2]), path
    for path in ("/actuator/health", "/ngsi-ld/ex/v1/ping", "/health/ready"):
        status, _, text = ask("GET", path)
        check(path, (status, json.loads(text)["status"]), (200, "UP"))
    assert json.loads(ask("GET", "/actuator/info")[2])["build"]["version"]
    tenants = json.loads(ask("GET", "/ngsi-ld/ex/v1/tenants")[2])
    assert {"clients", "openiot"} <= set(tenants), tenants
    # A proxy speaks for somebody else.
    check("tenants from afar", ask("GET", "/ngsi-ld/ex/v1/tenants", X_Forwarded_For="203.0.113.7")[0], 404)
    for path in ("/ngsi-ld/v1/entities", "/tsm/v1/repositories", "/version", "/"):
        status, headers, _ = ask("OPTIONS", path)
        check(f"OPTIONS {path}", status, 204)
        assert {"GET", "HEAD", "OPTIONS"} <= set(headers["allow"].split(", ")), headers["allow"]
    status, headers, _ = ask("PATCH", "/ngsi-ld/v1/types")
    check("405", (status, headers["allow"]), (405, "GET, HEAD, OPTIONS"))


def browser():
    status, headers, _ = ask(
        "OPTIONS", "/ngsi-ld/v1/entities/urn:x:1", Origin=ORIGIN, Access_Control_Request_Method="PATCH",
        Access_Control_Request_Headers="content-type,link",
    )
    check("preflight", (status, headers["access-control-allow-origin"]), (204, ORIGIN))
    assert "PATCH" in headers["access-control-allow-methods"]
    check("headers of the preflight", headers["access-control-allow-headers"], "content-type,link")
    _, headers, _ = ask("GET", "/ngsi-ld/v1/types", Origin=ORIGIN)
    check("origin", headers["access-control-allow-origin"], ORIGIN)
    assert "origin" in headers["vary"].lower()
    assert "NGSILD-Results-Count" in headers["access-control-expose-headers"]
    _, headers, _ = ask("GET", "/ngsi-ld/v1/types", Origin="https://evil.example.org")
    assert "access-control-allow-origin" not in headers
    _, headers, _ = ask("GET", "/ngsi-ld/ex/v1/tenants", Origin=ORIGIN)
    assert "access-control-allow-origin" not in headers
    status, headers, text = ask("GET", "/", Accept="text/html,application/xhtml+xml,*/*;q=0.8")
    assert headers["content-type"].startswith("text/html") and "/ngsi-ld/v1/docs" in text
    check("facts", json.loads(ask("GET", "/")[2])["name"], "twinfold")
    for path in ("/ngsi-ld/v1/docs", "/tsm/v1/docs"):
        check(path, ask("GET", path, Accept="text/html")[0], 200)
        assert json.loads(ask("GET", path + "/openapi.json")[2])["openapi"].startswith("3.")


for part in (client_of_users, iot_agent, tools_of_brokers, browser):
    part()
    print(f"ok: {part.__name__}")
