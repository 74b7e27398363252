//! Hosts, plugins and descriptions for tests.

use netquarry_core::discovery::{Ancestor, BaseClass, ClassDescription, MethodDescription};
use netquarry_plugin::{HostOptions, Plugin, PluginHost, first_party};

/// A host without a cache and with the usual limits.
pub(crate) fn host() -> PluginHost {
    PluginHost::new(HostOptions::default()).expect("this machine can run plugins")
}

/// The first-party plugin with this name.
pub(crate) fn embedded(host: &PluginHost, name: &str) -> Plugin {
    let component = first_party().iter().find(|component| component.name == name);
    let component = component.unwrap_or_else(|| panic!("{name} is not embedded"));
    host.load(component.bytes).expect("a first-party component loads")
}

/// A class of `package.module` with an `nn.Module` base and a `forward`.
pub(crate) fn module_class(name: &str) -> ClassDescription {
    let forward = MethodDescription {
        name: "forward".to_owned(),
        parameters: vec!["self".to_owned(), "x".to_owned()],
        decorators: Vec::new(),
        is_stub: false,
    };
    let base = BaseClass { written: Some("nn.Module".to_owned()), resolved: Some("torch.nn.Module".to_owned()) };
    ClassDescription {
        name: name.to_owned(),
        path: format!("package.module.{name}"),
        module: "package.module".to_owned(),
        source: "test".to_owned(),
        file: "package/module.py".to_owned(),
        bases: vec![base],
        metaclass: None,
        ancestors: vec![Ancestor { path: "torch.nn.Module".to_owned(), external: true, methods: Vec::new() }],
        methods: vec![forward],
        decorators: Vec::new(),
        attributes: Vec::new(),
        references: vec!["nn.Module".to_owned()],
        summary: None,
        conditional: false,
        subclassed: false,
    }
}
