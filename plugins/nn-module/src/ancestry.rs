//! What a class inherits.

use std::collections::BTreeSet;

use netquarry_sdk::discovery::{BaseClass, ClassDescription, Method};

/// The dotted paths under which `nn.Module` is found: where it is defined, and where everybody imports it from.
const MODULE_PATHS: [&str; 3] = ["torch.nn.modules.module.Module", "torch.nn.modules.Module", "torch.nn.Module"];

/// Whether the base is `nn.Module` itself: by what it resolves to or, where it does not resolve, by how it is written.
pub fn is_nn_module(base: &BaseClass) -> bool {
    match (&base.resolved, &base.written) {
        (Some(resolved), _) => is_nn_module_path(resolved),
        (None, Some(written)) => written == "nn.Module" || is_nn_module_path(written),
        (None, None) => false,
    }
}

pub fn is_nn_module_path(path: &str) -> bool {
    MODULE_PATHS.contains(&path)
}

/// How a class comes by `nn.Module`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lineage<'a> {
    /// It names `nn.Module` as a base.
    Direct,
    /// The nearest ancestor that is a module: one of `torch.nn`, or else the nearest at all.
    Through(&'a str),
}

/// How the class comes by `nn.Module`, if it does.
pub fn lineage(class: &ClassDescription) -> Option<Lineage<'_>> {
    if class.bases.iter().any(is_nn_module) {
        return Some(Lineage::Direct);
    }
    let is_module = |path: &str| is_nn_module_path(path) || is_torch_class(path);
    class.ancestors.iter().find(|ancestor| is_module(&ancestor.path))?;
    class.ancestors.first().map(|ancestor| Lineage::Through(&ancestor.path))
}

/// Where a class has its `forward` from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forward<'a> {
    Own,
    /// From the ancestor with this path.
    Inherited(&'a str),
}

/// The `forward` that Python would find. A method that only raises or passes is none: `nn.Module` has such a one too.
pub fn forward(class: &ClassDescription) -> Option<Forward<'_>> {
    let own = class.methods.iter().rfind(|method| method.name == "forward");
    match own {
        Some(method) => return (!method.stub).then_some(Forward::Own),
        // `forward = other_method` in the class body.
        None if class.attributes.iter().any(|attribute| attribute == "forward") => return Some(Forward::Own),
        None => {}
    }
    for ancestor in &class.ancestors {
        if ancestor.external && has_torch_forward(&ancestor.path) {
            return Some(Forward::Inherited(&ancestor.path));
        }
        if let Some(method) = ancestor.methods.iter().rfind(|method| method.name == "forward") {
            return (!method.stub).then_some(Forward::Inherited(&ancestor.path));
        }
    }
    None
}

/// Whether a dotted path looks like a class of `torch.nn` or its relatives. By PEP 8 classes, and they alone, begin with a
/// capital (a leading underscore aside: `torch.nn.modules.loss._Loss`).
fn is_torch_class(path: &str) -> bool {
    const PACKAGES: [&str; 2] = ["torch.nn.", "torch.ao.nn."];
    const NOT_MODULES: [&str; 4] = ["Parameter", "UninitializedParameter", "Buffer", "UninitializedBuffer"];
    let name = path.rsplit('.').next().unwrap_or(path).trim_start_matches('_');
    PACKAGES.iter().any(|package| path.starts_with(package))
        && name.starts_with(char::is_uppercase)
        && !NOT_MODULES.contains(&name)
}

/// Whether a class outside of the corpus is one of torch's modules that has a `forward`. Those that only hold other
/// modules or parameters have none, and neither have the bases that torch's own families share.
fn has_torch_forward(path: &str) -> bool {
    const WITHOUT: [&str; 5] = ["Module", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"];
    let name = path.rsplit('.').next().unwrap_or(path);
    is_torch_class(path) && !WITHOUT.contains(&name) && !name.starts_with('_')
}

/// The names of methods that the class has but that nobody along its ancestry defines for real: declared with
/// `abstractmethod` and not overridden nearer to the class.
pub fn abstract_methods(class: &ClassDescription) -> Vec<&str> {
    let mut seen: BTreeSet<&str> = class.attributes.iter().map(String::as_str).collect();
    let mut missing = Vec::new();
    let bodies = std::iter::once(&class.methods).chain(class.ancestors.iter().map(|ancestor| &ancestor.methods));
    for method in bodies.flatten() {
        if seen.insert(&method.name) && is_abstract(method) {
            missing.push(method.name.as_str());
        }
    }
    missing
}

fn is_abstract(method: &Method) -> bool {
    const MARKERS: [&str; 4] = ["abstractmethod", "abstractproperty", "abstractclassmethod", "abstractstaticmethod"];
    let last = |decorator: &String| MARKERS.contains(&decorator.rsplit('.').next().unwrap_or(decorator));
    method.decorators.iter().any(last)
}
