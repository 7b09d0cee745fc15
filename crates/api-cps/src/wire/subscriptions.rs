//! Subscriptions as bodies and answers have them: a small tree below `/dataspaces`.

use model_config::{AnchorSubscription, DataspaceSubscription, Subscriptions};
use serde::{Deserialize, Serialize};

/// What the original stores subscriptions under.
pub(crate) const MODULE: &str = "cps-notification-subscriptions";

/// `/dataspaces`
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DataspacesShape {
    #[serde(
        default,
        alias = "cps-notification-subscriptions:dataspace",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub(crate) dataspace: Vec<DataspaceShape>,
}

/// `/dataspaces/dataspace[@name='…']`
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DataspaceShape {
    pub(crate) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) anchors: Option<AnchorsShape>,
}

/// `…/anchors`
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnchorsShape {
    #[serde(default, alias = "cps-notification-subscriptions:anchor", skip_serializing_if = "Vec::is_empty")]
    pub(crate) anchor: Vec<AnchorShape>,
}

/// `…/anchors/anchor[@name='…']`
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnchorShape {
    pub(crate) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) xpaths: Option<XpathsShape>,
}

/// `…/xpaths`
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct XpathsShape {
    #[serde(default, alias = "cps-notification-subscriptions:xpath", skip_serializing_if = "Vec::is_empty")]
    pub(crate) xpath: Vec<XpathShape>,
}

/// `…/xpaths/xpath[@path='…']`
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct XpathShape {
    pub(crate) path: String,
}

/// A body that is sent to a dataspace: its anchors.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OfDataspace {
    #[serde(default, alias = "cps-notification-subscriptions:anchors")]
    pub(crate) anchors: AnchorsShape,
}

/// A body that is sent to an anchor: its paths.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OfAnchor {
    #[serde(default, alias = "cps-notification-subscriptions:xpaths")]
    pub(crate) xpaths: XpathsShape,
}

impl From<&Subscriptions> for DataspacesShape {
    fn from(subscriptions: &Subscriptions) -> Self {
        Self { dataspace: subscriptions.dataspaces.iter().map(DataspaceShape::from).collect() }
    }
}

impl From<&DataspaceSubscription> for DataspaceShape {
    fn from(dataspace: &DataspaceSubscription) -> Self {
        let anchor: Vec<_> = dataspace.anchors.iter().map(AnchorShape::from).collect();
        Self {
            name: dataspace.name.to_string(),
            anchors: (!anchor.is_empty()).then_some(AnchorsShape { anchor }),
        }
    }
}

impl From<&AnchorSubscription> for AnchorShape {
    fn from(anchor: &AnchorSubscription) -> Self {
        let xpath: Vec<_> = anchor.xpaths.iter().map(|path| XpathShape { path: path.to_string() }).collect();
        Self { name: anchor.name.to_string(), xpaths: (!xpath.is_empty()).then_some(XpathsShape { xpath }) }
    }
}

impl From<DataspaceShape> for DataspaceSubscription {
    fn from(shape: DataspaceShape) -> Self {
        let anchors = shape.anchors.into_iter().flat_map(|anchors| anchors.anchor).map(Into::into).collect();
        Self { name: shape.name.into(), anchors }
    }
}

impl From<AnchorShape> for AnchorSubscription {
    fn from(shape: AnchorShape) -> Self {
        let xpaths = shape.xpaths.into_iter().flat_map(|xpaths| xpaths.xpath);
        Self { name: shape.name.into(), xpaths: xpaths.map(|xpath| xpath.path.into()).collect() }
    }
}
