//! The eleven modules of RFC 8944 and what they lean on, as they are published.

use std::path::PathBuf;

use lang_yang::{
    CompileOptions, Compiled, Features, Kinds, NodeId, NodeKind, Prefixes, Scalar, Schema, Strict, Type,
    TypeKind, ValueRules, YangFile, compile,
};

/// The folder of published files; nothing if this machine has none and need not.
#[expect(clippy::disallowed_methods, reason = "switches of the test run itself")]
fn folder() -> Option<PathBuf> {
    let folder = std::env::var("TWINFOLD_TEST_DATA").ok().map(|folder| PathBuf::from(folder).join("yang"));
    assert!(
        folder.is_some() || std::env::var("TWINFOLD_TEST_STRICT").is_err(),
        "TWINFOLD_TEST_DATA names no folder with published modules"
    );
    folder
}

/// All modules of a folder.
fn files(folder: &std::path::Path) -> Vec<YangFile> {
    let mut files: Vec<YangFile> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yang"))
        .map(|path| YangFile {
            name: path.file_name().unwrap().to_str().unwrap().into(),
            text: std::fs::read_to_string(&path).unwrap().into(),
        })
        .collect();
    files.sort_by(|a, b| a.name.cmp(&b.name));
    files
}

const OPTIONS: CompileOptions = CompileOptions { features: Features::All };

fn published() -> Option<Compiled> {
    Some(compile(&files(&folder()?), &OPTIONS).unwrap())
}

/// The node of this path: names, with the module where there are several.
fn at(schema: &Schema, path: &str) -> NodeId {
    path.split('/')
        .fold(None, |parent, step| {
            let (module, name) =
                step.split_once(':').map_or((None, step), |(module, name)| (Some(module), name));
            Some(schema.child(parent, module, name).unwrap_or_else(|| panic!("{path}: no {name}")))
        })
        .unwrap()
}

#[test]
fn the_modules_of_rfc_8944_compile() {
    let Some(Compiled { schema, warnings }) = published() else { return };
    assert_eq!(warnings, Vec::<Box<str>>::new());
    assert_eq!(schema.modules.iter().filter(|module| module.is_implemented).count(), 11);
    let revision = |name| &*schema.module(schema.module_named(name).unwrap()).revision;
    assert_eq!(revision("ietf-inet-types"), "2013-07-15", "the uploaded one, and not that of libyang");
    assert_eq!(revision("ietf-yang-types"), "2013-07-15");
    let count = |is: fn(&NodeKind) -> bool| schema.nodes.iter().filter(|node| is(&node.kind)).count();
    assert_eq!(count(|kind| matches!(kind, NodeKind::Container { .. })), 24);
    assert_eq!(count(|kind| matches!(kind, NodeKind::List { .. })), 18);
    assert_eq!(count(|kind| matches!(kind, NodeKind::Leaf { .. })), 115);
    assert_eq!(count(|kind| matches!(kind, NodeKind::LeafList { .. })), 20);
    assert_eq!(schema.nodes.len(), 177);
    let top: Vec<String> = schema.top.iter().map(|id| schema.path(*id)).collect();
    assert_eq!(
        top,
        [
            "/ietf-interfaces:interfaces",
            "/ietf-interfaces:interfaces-state",
            "/ietf-network:networks",
            "/ietf-network-state:networks"
        ]
    );
    assert_eq!(Schema::decode(&schema.encode()).unwrap(), schema);
    // Far from what is allowed, and no value of theirs is too long for them.
    assert!(schema.pattern_bytes() < 4 << 20, "{} bytes", schema.pattern_bytes());
    for node in &schema.nodes {
        let mut types: Vec<Type> = node.type_().into_iter().cloned().collect();
        while let Some(type_) = types.pop() {
            match type_.resolved().kind() {
                TypeKind::String { patterns, .. } => {
                    for pattern in patterns {
                        assert!(pattern.value_bytes_max() >= 4 << 10, "{}", pattern.text());
                    }
                }
                TypeKind::Union(members) => types.extend(members.iter().cloned()),
                _ => {}
            }
        }
    }
}

#[test]
fn nodes_are_as_their_modules_say() {
    let Some(Compiled { schema, .. }) = published() else { return };
    let node = |path: &str| schema.node(at(&schema, path));
    let tp = "ietf-network:networks/network/node/ietf-network-topology:termination-point";
    let NodeKind::List { keys, user_ordered: false } = &node("ietf-network:networks/network").kind else {
        panic!("a list")
    };
    assert_eq!(
        keys.iter().map(|key| schema.path(*key)).collect::<Vec<_>>(),
        ["/ietf-network:networks/network/network-id"]
    );
    let NodeKind::List { keys, .. } = &node(&format!("{tp}/supporting-termination-point")).kind else {
        panic!("a list")
    };
    let keys: Vec<&str> = keys.iter().map(|key| &*schema.node(*key).name).collect();
    assert_eq!(keys, ["network-ref", "node-ref", "tp-ref"]);
    let presence = |path| match node(path).kind {
        NodeKind::Container { presence } => presence,
        _ => panic!("a container"),
    };
    assert!(presence("ietf-network:networks/network/network-types/ietf-l2-topology:l2-topology"));
    assert!(!presence("ietf-network:networks"));
    let link = "ietf-network:networks/network/ietf-network-topology:link/ietf-l2-topology:l2-link-attributes";
    let kind = |name: &str| &node(&format!("{link}/{name}")).kind;
    let NodeKind::Leaf { type_, default: None } = kind("duplex") else { panic!("a leaf without a default") };
    assert!(matches!(type_.kind(), TypeKind::Enumeration(names) if names.len() == 2));
    let NodeKind::Leaf { type_, default: Some(default) } = kind("auto-nego") else {
        panic!("a leaf with a default")
    };
    assert_eq!((type_.kind(), &**default), (&TypeKind::Boolean, "true"));
    assert!(!node("ietf-interfaces:interfaces/interface/oper-status").is_config);
    assert!(node("ietf-interfaces:interfaces/interface/type").is_mandatory);
    assert!(schema.nodes.iter().all(|node| node.choices.is_empty()));
}

#[test]
fn values_are_checked_as_their_modules_say() {
    let Some(Compiled { schema, .. }) = published() else { return };
    let check = |path: &str, scalar: Scalar<'_>| {
        let node = schema.node(at(&schema, path));
        let rules = ValueRules {
            schema: &schema,
            module: node.module,
            prefixes: Prefixes::Modules,
            kinds: Kinds::Rfc7951,
        };
        let value = node.type_().unwrap().check(scalar, &rules);
        value.map(|value| value.text.into_string()).map_err(|error| error.to_string())
    };
    let network = "ietf-network:networks/network";
    let tp = format!("{network}/node/ietf-network-topology:termination-point");
    let l2 = format!("{tp}/ietf-l2-topology:l2-termination-point-attributes");
    // Newer revisions of ietf-inet-types have a pattern for URIs, which the uploaded one has not.
    assert_eq!(
        check(&format!("{network}/network-id"), Scalar::String("l2-topo-example")),
        Ok("l2-topo-example".into())
    );
    assert_eq!(check(&format!("{l2}/outer-tag"), Scalar::String("12,14-20")), Ok("12,14-20".into()));
    check(&format!("{l2}/outer-tag"), Scalar::String("012")).unwrap_err();
    let type_ = format!("{l2}/encapsulation-type");
    assert_eq!(check(&type_, Scalar::String("ietf-l2-topology:vlan")), Ok("ietf-l2-topology:vlan".into()));
    assert_eq!(check(&type_, Scalar::String("vlan")), Ok("ietf-l2-topology:vlan".into()));
    assert_eq!(
        check(&type_, Scalar::String("ieee802-dot1q-types:c-vlan")).unwrap_err(),
        "\"ieee802-dot1q-types:c-vlan\" is not an identity derived from ietf-l2-topology:eth-encapsulation-type"
    );
    assert_eq!(
        check(&format!("{l2}/vxlan/vni-id"), Scalar::Number("16777216")).unwrap_err(),
        "16777216 is not an integer from 0 to 16777215 (a number in JSON)"
    );
    let address = format!("{network}/node/ietf-l2-topology:l2-node-attributes/management-address");
    assert_eq!(check(&address, Scalar::String("192.0.2.1")), Ok("192.0.2.1".into()));
    assert_eq!(check(&address, Scalar::String("2001:db8::1")), Ok("2001:db8::1".into()));
    check(&address, Scalar::String("192.0.2.256")).unwrap_err();
    assert_eq!(
        check("ietf-interfaces:interfaces/interface/type", Scalar::String("iana-if-type:ethernetCsmacd")),
        Ok("iana-if-type:ethernetCsmacd".into())
    );
}

#[test]
fn strict_mode_refuses_what_the_sample_lacks() {
    let Some(folder) = folder() else { return };
    let strict = Strict::new(&files(&folder), &OPTIONS).unwrap();
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let error = strict.validate(&read("ietf-network-sample-rfc8944.json")).unwrap_err();
    assert!(error.message.starts_with("When condition"), "{error}");
    assert_eq!(strict.validate(&read("sample-with-l2-type.json")), Ok(()));
}
