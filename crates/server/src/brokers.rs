//! What clients of context brokers ask for beside the standards: which broker this is, whether it lives, which tenants
//! it has. Each broker has its own habits; clients try one after the other.

use api_http::{FrontEnd, Gives, Operation, Request, Response, Route, empty_response, handler};
use http::{Method, StatusCode};
use model_entities::{Entities, Error, TenantName};
use serde_json::json;

use crate::admin::{Admin, answer, chain, live, ready, refuse, refused, version};
use crate::docs::{done, json_of};

const TENANTS_PATH: &str = "/ngsi-ld/ex/v1/tenants";
const TENANT_PATH: &str = "/ngsi-ld/ex/v1/tenants/{name}";

/// GET `/actuator/health`
const HEALTH: Operation = Operation::new("brokers", "actuatorHealth", "The same as /health/ready.")
    .gives(&[(200, done("Health")), (503, Gives::new("Not now: why.", json_of("Health")))]);
/// GET `/actuator/health/liveness`
const LIVENESS: Operation = Operation::new("brokers", "actuatorLiveness", "The same as /health/live.")
    .gives(&[(200, done("Health"))]);
/// GET `/actuator/health/readiness`
const READINESS: Operation = Operation::new("brokers", "actuatorReadiness", "The same as /health/ready.")
    .gives(&[(200, done("Health")), (503, Gives::new("Not now: why.", json_of("Health")))]);
/// GET `/actuator/info`
const INFO: Operation = Operation::new("brokers", "actuatorInfo", "What this server is built of.")
    .gives(&[(200, done("BuildInfo"))]);
/// GET `/ngsi-ld/ex/v1/ping`
const PING: Operation =
    Operation::new("brokers", "ping", "The same as /health/live.").gives(&[(200, done("Health"))]);
/// GET `/ngsi-ld/ex/v1/version`
const VERSION: Operation =
    Operation::new("brokers", "brokerVersion", "The same as /version.").gives(&[(200, done("Version"))]);
/// GET `/ngsi-ld/ex/v1/tenants`
const TENANTS: Operation =
    Operation::new("administration", "listTenants", "The names of all tenants but the default one.")
        .gives(&[(200, done("Tenants"))]);
/// DELETE `/ngsi-ld/ex/v1/tenants/{name}`
const REMOVE_TENANT: Operation =
    Operation::new("administration", "removeTenant", "Removes a tenant with everything in it.")
        .gives(&[(204, Gives::nothing("Done."))])
        .refuses(&[400, 404]);

/// The routes, over those of the server itself.
pub(crate) fn front_end(admin: &Admin, entities: &Entities) -> FrontEnd {
    let get =
        |path, operation, handler| Route { method: Method::GET, path, operation, handler, is_admin: false };
    FrontEnd {
        name: "server",
        prefix: "/",
        routes: vec![
            get("/actuator/health", &HEALTH, handler(admin, ready)),
            get("/actuator/health/liveness", &LIVENESS, handler(admin, live)),
            get("/actuator/health/readiness", &READINESS, handler(admin, ready)),
            get("/actuator/info", &INFO, handler(admin, info)),
            get("/ngsi-ld/ex/v1/ping", &PING, handler(admin, live)),
            get("/ngsi-ld/ex/v1/version", &VERSION, handler(admin, version)),
            // Names of tenants say whose data there is.
            Route { is_admin: true, ..get(TENANTS_PATH, &TENANTS, handler(entities, tenants)) },
            Route {
                method: Method::DELETE,
                is_admin: true,
                ..get(TENANT_PATH, &REMOVE_TENANT, handler(entities, remove_tenant))
            },
        ],
        refuse,
    }
}

/// What Stellio and Scorpio say of their build.
async fn info(_: Admin, _: Request) -> Response {
    let build = json!({
        "group": "twinfold", "artifact": "twinfold", "name": "twinfold", "version": env!("CARGO_PKG_VERSION"),
    });
    answer(StatusCode::OK, &json!({ "build": build }))
}

/// The names of all tenants but the default one, which has none.
async fn tenants(entities: Entities, _: Request) -> Response {
    match entities.tenants().await {
        Ok(tenants) => {
            let names: Vec<_> =
                tenants.iter().map(model_entities::Tenant::name).filter(|name| !name.is_empty()).collect();
            answer(StatusCode::OK, &json!(names))
        }
        Err(error) => {
            tracing::error!(error = chain(&error), "tenants cannot be listed");
            refused(StatusCode::SERVICE_UNAVAILABLE, "the store cannot serve now")
        }
    }
}

/// Removes a tenant with everything in it. `default` means the default tenant, unless there is one of that name.
async fn remove_tenant(entities: Entities, request: Request) -> Response {
    let name = match TenantName::new(request.capture(0)) {
        Ok(name) => name,
        Err(error) => return refused(StatusCode::BAD_REQUEST, &error.to_string()),
    };
    let shown = name.clone();
    // A task of its own: a client that hangs up must not leave it half done.
    let removed = tokio::spawn(async move { entities.remove_tenant(&name).await }).await;
    match removed {
        Ok(Ok(true)) => {
            tracing::info!(tenant = %shown, "tenant removed");
            empty_response(StatusCode::NO_CONTENT)
        }
        Ok(Ok(false)) if shown.as_str() == "default" => {
            refused(StatusCode::BAD_REQUEST, "the default tenant cannot be removed")
        }
        Ok(Ok(false)) => refused(StatusCode::NOT_FOUND, &format!("tenant {shown} does not exist")),
        Ok(Err(Error::Invalid(detail))) => refused(StatusCode::BAD_REQUEST, &detail),
        Ok(Err(error)) => {
            tracing::error!(error = chain(&error), tenant = %shown, "a tenant cannot be removed");
            refused(StatusCode::SERVICE_UNAVAILABLE, "the store cannot serve now")
        }
        Err(error) => {
            tracing::error!(%error, tenant = %shown, "removing a tenant failed");
            refused(StatusCode::INTERNAL_SERVER_ERROR, "the tenant could not be removed")
        }
    }
}
