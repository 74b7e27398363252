//! Descriptions for tests.

use netquarry_sdk::discovery::{Ancestor, BaseClass, ClassDescription, Method};

/// A method that takes `self` and `x` and does something.
pub(crate) fn method(name: &str) -> Method {
    let parameters = vec!["self".to_owned(), "x".to_owned()];
    Method { name: name.to_owned(), parameters, decorators: Vec::new(), stub: false }
}

/// A class with `nn.Module` as its base and a `forward`.
pub(crate) fn class(name: &str) -> ClassDescription {
    let module = "torch.nn.Module".to_owned();
    ClassDescription {
        name: name.to_owned(),
        path: format!("package.module.{name}"),
        module: "package.module".to_owned(),
        source: "test".to_owned(),
        file: "package/module.py".to_owned(),
        bases: vec![BaseClass { written: Some("nn.Module".to_owned()), resolved: Some(module.clone()) }],
        metaclass: None,
        ancestors: vec![Ancestor { path: module, external: true, methods: Vec::new() }],
        methods: vec![method("forward")],
        decorators: Vec::new(),
        attributes: Vec::new(),
        references: Vec::new(),
        summary: None,
        conditional: false,
        subclassed: false,
    }
}
