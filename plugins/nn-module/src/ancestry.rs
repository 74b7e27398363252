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
    /// Its only base, or the class of `torch.nn` that is the nearest among its ancestors.
    Through(&'a str),
}

/// How the class comes by `nn.Module`, if it does. `external_modules` are the dotted paths of further classes outside
/// of the corpus that are modules.
pub fn lineage<'a>(class: &'a ClassDescription, external_modules: &[String]) -> Option<Lineage<'a>> {
    if class.bases.iter().any(is_nn_module) {
        return Some(Lineage::Direct);
    }
    let is_module = |path: &str| {
        is_nn_module_path(path) || is_torch_class(path) || external_modules.iter().any(|module| module == path)
    };
    let module = class.ancestors.iter().find(|ancestor| is_module(&ancestor.path))?;
    // With several bases the first may be a mixin that is no module.
    let nearest = if class.bases.len() == 1 { class.ancestors.first().unwrap_or(module) } else { module };
    Some(Lineage::Through(&nearest.path))
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

/// Whether a dotted path looks like a class of `torch.nn` or its relatives. By PEP 8 classes, and they alone, begin
/// with a capital (a leading underscore aside: `torch.nn.modules.loss._Loss`).
fn is_torch_class(path: &str) -> bool {
    const PACKAGES: [&str; 2] = ["torch.nn.", "torch.ao.nn."];
    const NOT_MODULES: [&str; 4] = ["Parameter", "UninitializedParameter", "Buffer", "UninitializedBuffer"];
    let name = path.rsplit('.').next().unwrap_or(path).trim_start_matches('_');
    PACKAGES.iter().any(|package| path.starts_with(package))
        && name.starts_with(char::is_uppercase)
        && !NOT_MODULES.contains(&name)
}

/// Whether a class outside of the corpus is one of torch's modules that has a `forward`. Those that only hold other
/// modules or parameters have none, and neither have most of the bases that torch's own families share.
fn has_torch_forward(path: &str) -> bool {
    const WITHOUT: [&str; 7] =
        ["Module", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict", "RNNBase", "RNNCellBase"];
    const SHARED_BASES_WITH: [&str; 2] = ["_BatchNorm", "_InstanceNorm"];
    let name = path.rsplit('.').next().unwrap_or(path);
    is_torch_class(path) && !WITHOUT.contains(&name) && (!name.starts_with('_') || SHARED_BASES_WITH.contains(&name))
}

/// The names of methods that the class has but that nobody along its ancestry defines for real: declared with
/// `abstractmethod` and not overridden nearer to the class.
pub fn abstract_methods(class: &ClassDescription) -> Vec<&str> {
    let mut seen: BTreeSet<&str> = class.attributes.iter().map(String::as_str).collect();
    let mut missing = Vec::new();
    let bodies = std::iter::once(&class.methods).chain(class.ancestors.iter().map(|ancestor| &ancestor.methods));
    for body in bodies {
        // Of several definitions in one body the last one stays.
        let last = body.iter().rev().filter(|method| seen.insert(&method.name));
        let mut own: Vec<&str> = last.filter(|method| is_abstract(method)).map(|method| method.name.as_str()).collect();
        own.reverse();
        missing.extend(own);
    }
    missing
}

fn is_abstract(method: &Method) -> bool {
    const MARKERS: [&str; 4] = ["abstractmethod", "abstractproperty", "abstractclassmethod", "abstractstaticmethod"];
    let last = |decorator: &String| MARKERS.contains(&decorator.rsplit('.').next().unwrap_or(decorator));
    method.decorators.iter().any(last)
}

#[cfg(test)]
mod tests {
    use netquarry_sdk::discovery::Ancestor;

    use super::*;
    use crate::testing::{class, method};

    fn ancestor(path: &str, methods: &[Method]) -> Ancestor {
        Ancestor { path: path.to_owned(), external: path.starts_with("torch."), methods: methods.to_vec() }
    }

    /// A class that inherits these, the nearest first.
    fn derived(ancestors: &[Ancestor]) -> ClassDescription {
        let mut class = class("Derived");
        class.bases = vec![BaseClass { written: Some("Base".to_owned()), resolved: Some(ancestors[0].path.clone()) }];
        class.ancestors = ancestors.to_vec();
        class.methods.clear();
        class
    }

    #[test]
    fn nn_module_is_known_by_what_it_resolves_to() {
        let base = |written: &str, resolved: Option<&str>| BaseClass {
            written: Some(written.to_owned()),
            resolved: resolved.map(str::to_owned),
        };
        assert!(is_nn_module(&base("Module", Some("torch.nn.Module"))));
        assert!(is_nn_module(&base("nn.Module", None)));
        assert!(!is_nn_module(&base("nn.Module", Some("flax.linen.Module"))));
        assert!(!is_nn_module(&base("Module", None)));
    }

    #[test]
    fn any_chain_of_bases_leads_to_nn_module() {
        let through = derived(&[ancestor("package.Base", &[]), ancestor("torch.nn.Module", &[])]);
        assert_eq!(lineage(&through, &[]), Some(Lineage::Through("package.Base")));
        assert_eq!(
            lineage(&derived(&[ancestor("torch.nn.Conv2d", &[])]), &[]),
            Some(Lineage::Through("torch.nn.Conv2d"))
        );
        assert_eq!(lineage(&class("Direct"), &[]), Some(Lineage::Direct));
        assert_eq!(lineage(&derived(&[ancestor("package.Base", &[])]), &[]), None);
        assert_eq!(lineage(&derived(&[ancestor("torch.utils.data.Dataset", &[])]), &[]), None);
        assert_eq!(lineage(&derived(&[ancestor("torch.nn.Parameter", &[])]), &[]), None);
        let external = ["mmengine.model.BaseModule".to_owned()];
        assert!(lineage(&derived(&[ancestor("mmengine.model.BaseModule", &[])]), &external).is_some());
    }

    #[test]
    fn forward_is_the_one_that_python_would_find() {
        let base = ancestor("package.Base", &[method("forward")]);
        assert_eq!(forward(&derived(&[base])), Some(Forward::Inherited("package.Base")));
        let torch = derived(&[ancestor("package.Base", &[]), ancestor("torch.nn.Sequential", &[])]);
        assert_eq!(forward(&torch), Some(Forward::Inherited("torch.nn.Sequential")));
        for without in ["torch.nn.Module", "torch.nn.ModuleList", "torch.nn.modules.conv._ConvNd"] {
            assert_eq!(forward(&derived(&[ancestor(without, &[])])), None, "{without}");
        }
        let with = derived(&[ancestor("torch.nn.modules.batchnorm._BatchNorm", &[])]);
        assert!(forward(&with).is_some());
    }

    #[test]
    fn a_stub_is_no_forward() {
        let mut stub = class("Stub");
        stub.methods[0].stub = true;
        assert_eq!(forward(&stub), None);
        let hidden = Method { stub: true, ..method("forward") };
        let derived = derived(&[ancestor("package.Base", &[hidden]), ancestor("package.Root", &[method("forward")])]);
        assert_eq!(forward(&derived), None, "the nearer one counts");
    }

    #[test]
    fn abstract_methods_stay_until_they_are_overridden() {
        let declared = Method { decorators: vec!["abc.abstractmethod".to_owned()], ..method("build") };
        let mut class = derived(&[ancestor("package.Base", std::slice::from_ref(&declared))]);
        assert_eq!(abstract_methods(&class), ["build"]);
        class.methods.push(method("build"));
        assert!(abstract_methods(&class).is_empty());
        // Declared and defined in one body, as for a type checker.
        class.methods.insert(0, declared);
        assert!(abstract_methods(&class).is_empty());
        class.methods.clear();
        class.attributes.push("build".to_owned());
        assert!(abstract_methods(&class).is_empty());
    }
}
