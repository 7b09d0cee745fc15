"""filip, the library of RWTH Aachen for FIWARE platforms, against a running server: `filip_ld.py URL`.

It does what its users do with a context broker: typed entities written, queried, changed and removed, one by one and in batches.
Subscriptions are left out: the server has none yet.
"""

import sys

import requests
from filip.clients.ngsi_ld.cb import ContextBrokerLDClient
from filip.models.base import FiwareLDHeader
from filip.models.ngsi_ld.context import ActionTypeLD, ContextLDEntity, ContextProperty


def check(what, got, expected):
    assert got == expected, f"{what}: got {got!r}, expected {expected!r}"


def station(number, **attributes):
    return ContextLDEntity(id=f"urn:ngsi-ld:Station:filip-{number}", type="Station", **attributes)


def entities(client):
    first = station(1, pm10=ContextProperty(value=41, unitCode="GQ", observedAt="2026-05-04T10:00:00Z"))
    check("location", client.post_entity(first), f"/ngsi-ld/v1/entities/{first.id}")
    client.post_entity(first, update=True)
    found = client.get_entity(first.id)
    check("value", (found.pm10.value, found.pm10.unitCode), (41, "GQ"))
    check("found by value", [entity.id for entity in client.get_entity_list(q="pm10>40", entity_type="Station")], [first.id])

    client.update_entity_attribute(first.id, ContextProperty(value=44), attr_name="pm10")
    client.append_entity_attributes(station(1, no2=ContextProperty(value=7)))
    client.replace_existing_attributes_of_entity(station(1, no2=ContextProperty(value=8)))
    found = client.get_entity(first.id)
    check("values that were changed", (found.pm10.value, found.no2.value), (44, 8))
    client.override_entities([station(1, no2=ContextProperty(value=9))])
    client.delete_attribute(first.id, "no2")
    left = client.get_entity(first.id)
    assert not hasattr(left, "pm10") and not hasattr(left, "no2"), left
    client.delete_entity_by_id(first.id)
    try:
        client.get_entity(first.id)
        raise AssertionError("an entity that was removed is found")
    except requests.HTTPError as error:
        check("status of what is gone", error.response.status_code, 404)


def batches(client):
    many = [station(number, pm10=ContextProperty(value=number)) for number in range(2, 302)]
    client.entity_batch_operation(entities=many, action_type=ActionTypeLD.CREATE)
    client.entity_batch_operation(entities=many, action_type=ActionTypeLD.UPSERT)
    check("entities in pages", len(client.get_entity_list(entity_type="Station")), len(many))
    client.entity_batch_operation(entities=many, action_type=ActionTypeLD.DELETE)
    check("entities left", client.get_entity_list(entity_type="Station"), [])


CLIENT = ContextBrokerLDClient(url=sys.argv[1], fiware_header=FiwareLDHeader(ngsild_tenant="filip"))
assert "orionld version" in CLIENT.get_version()
for part in (entities, batches):
    part(CLIENT)
    print(f"ok: filip, {part.__name__}")
