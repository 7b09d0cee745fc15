// ngsijs, the library of WireCloud's dashboards, against a running server: `ngsijs.js URL`.
//
// It does what widgets do: entities and types are read and changed, histories written and read. Subscriptions are left out: the
// server has none yet.

const assert = require("node:assert/strict");
const NGSI = require("ngsijs");

const ld = new NGSI.Connection(process.argv[2]).ld;
const tenant = "ngsijs";
const id = "urn:ngsi-ld:Station:ngsijs-1";

async function entities() {
    const entity = {
        id,
        type: "Station",
        pm10: {type: "Property", value: 41, unitCode: "GQ", observedAt: "2026-05-04T10:00:00Z"},
        "@context": ["https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context.jsonld"],
    };
    const made = await ld.createEntity(entity, {tenant});
    assert.equal(made.location, `/ngsi-ld/v1/entities/${id}`);
    await assert.rejects(ld.createEntity(entity, {tenant}), NGSI.AlreadyExistsError);
    assert.equal((await ld.getEntity({id, tenant})).entity.pm10.unitCode, "GQ");
    assert.equal((await ld.getEntity({id, keyValues: true, tenant})).entity.pm10, 41);

    const found = await ld.queryEntities({type: "Station", q: "pm10>40", count: true, limit: 10, tenant});
    assert.deepEqual([found.count, found.results.map((entity) => entity.id)], [1, [id]]);

    const more = {id, name: {type: "Property", value: "North"}, pm10: {type: "Property", value: 1}};
    const appended = await ld.appendEntityAttributes(more, {noOverwrite: true, tenant});
    assert.deepEqual([appended.updated.length, appended.notUpdated.length], [1, 1]);
    await ld.updateEntityAttribute({value: 43}, {id, attribute: "pm10", tenant});
    await ld.updateEntityAttributes({id, name: {type: "Property", value: "South"}}, {tenant});
    const changed = (await ld.getEntity({id, keyValues: true, tenant})).entity;
    assert.deepEqual([changed.pm10, changed.name], [43, "South"]);
    await ld.deleteEntityAttribute({id, attribute: "name", tenant});
}

async function types() {
    assert.deepEqual((await ld.listTypes({tenant})).results.typeList, ["Station"]);
    assert.equal((await ld.listTypes({details: true, tenant})).results[0].typeName, "Station");
    assert.equal((await ld.getType({type: "Station", tenant})).type.entityCount, 1);
}

async function histories() {
    const temporalQ = {timerel: "after", timeAt: "2026-05-04T00:00:00Z"};
    const past = await ld.queryTemporalEntities({type: "Station", temporalQ, tenant});
    assert.deepEqual(past.results[0].pm10.map((instance) => instance.value).sort(), [41, 43]);

    const other = "urn:ngsi-ld:Station:ngsijs-2";
    const instance = (value, hour) => ({type: "Property", value, observedAt: `2026-05-04T${hour}:00:00Z`});
    const made = await ld.createTemporalEntity({id: other, type: "Station", pm10: [instance(1, 10)]}, {tenant});
    assert.ok(made.created);
    await ld.addTemporalEntityAttributes({id: other, pm10: [instance(2, 11)]}, {tenant});
    await ld.deleteTemporalEntityAttribute({id: other, attribute: "pm10", deleteAll: true, tenant});
    await ld.deleteTemporalEntity({id: other, tenant});
}

async function removal() {
    await ld.deleteEntity({id, tenant});
    await assert.rejects(ld.getEntity({id, tenant}), NGSI.NotFoundError);
}

(async () => {
    for (const part of [entities, types, histories, removal]) {
        await part();
        console.log(`ok: ngsijs, ${part.name}`);
    }
})().catch((error) => {
    console.error(error);
    process.exit(1);
});
