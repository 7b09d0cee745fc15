"""Change events as users of CPS read them: `cps_events.py URL BROKER STEP`.

A consumer of Apache Kafka (kafka-python) beside writes over the CPS API. STEP: `write`, some writes; `write-more`, others, while no
broker is there; `read`, all events of both are in the topic, each once, in the order of the writes.
"""

import http.client
import json
import sys
import time
import urllib.parse

from kafka import KafkaConsumer

URL = urllib.parse.urlsplit(sys.argv[1])
BROKER = sys.argv[2]
TOPIC = "cps-data-updated-events"
MODULE = """module lamps {
  namespace "urn:lamps";
  prefix l;
  container lamps { list lamp { key id; leaf id { type string; } leaf watts { type uint16; } } }
}
"""
FEW, MORE = range(1, 6), range(6, 31)


def check(what, got, expected):
    assert got == expected, f"{what}: got {got!r}, expected {expected!r}"


def ask(method, path, status, body=None, media="application/json"):
    connection = http.client.HTTPConnection(URL.hostname, URL.port, timeout=60)
    connection.request(method, "/cps/api/v2" + path, body=body, headers={"content-type": media})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    check(f"{method} {path}, {text}", answer.status, status)


def upload():
    lines = ['--part', 'content-disposition: form-data; name="file"; filename="lamps.yang"', "", MODULE, "--part--", ""]
    media = "multipart/form-data; boundary=part"
    ask("POST", "/dataspaces/city/schema-sets?schema-set-name=lamps", 201, "\r\n".join(lines), media)


def add(numbers):
    for number in numbers:
        lamp = {"lamp": [{"id": f"n{number}", "watts": number}]}
        ask("POST", "/dataspaces/city/anchors/old-town/list-nodes?xpath=/lamps", 201, json.dumps(lamp))


def write():
    ask("POST", "/dataspaces?dataspace-name=city", 201)
    upload()
    ask("POST", "/dataspaces/city/anchors?schema-set-name=lamps&anchor-name=old-town", 201)
    ask("POST", "/notification-subscription?xpath=/dataspaces", 201, '{"dataspace": [{"name": "city"}]}')
    # A subscription counts from a tenth of a second on.
    time.sleep(1)
    ask("POST", "/dataspaces/city/anchors/old-town/nodes", 201, '{"lamps:lamps": {}}')
    add(FEW)


def read():
    expected = ["/lamps"] + [f"/lamps/lamp[@id='n{number}']" for number in [*FEW, *MORE]]
    consumer = KafkaConsumer(TOPIC, bootstrap_servers=BROKER, auto_offset_reset="earliest", consumer_timeout_ms=500)
    found, ids, deadline = [], [], time.monotonic() + 60
    while len(set(ids)) < len(expected) and time.monotonic() < deadline:
        for message in consumer:
            headers = dict(message.headers)
            check("type", headers["ce_type"], b"org.onap.cps.events.model.CpsDataUpdatedEvent")
            check("version and source", (headers["ce_specversion"], headers["ce_source"]), (b"1.0", b"CPS"))
            check("key", message.key, b"city:old-town")
            payload = json.loads(message.value)["eventPayload"]
            check("action", payload["action"], "create")
            check("anchor", (payload["dataspaceName"], payload["anchorName"]), ("city", "old-town"))
            # At least once: what comes again has the same id.
            if headers["ce_id"] not in ids:
                ids.append(headers["ce_id"])
                found.append(payload["xpath"])
    check("places, in order", found, expected)


{"write": write, "write-more": lambda: add(MORE), "read": read}[sys.argv[3]]()
print(f"ok: change events, {sys.argv[3]}")
