//! What the facts say about Python text.
//!
//! A case is a Python file in `cases/`; its snapshot beside it repeats every statement, with the facts below.

use std::fmt::{self, Write as _};
use std::fs;
use std::path::Path;

use netquarry_core::facts::{
    Assigns, Effect, FileFacts, FunctionFacts, ImportForm, ImportStatement, KeyPlace, Reference, ReferenceBinding,
    ScopeKind, Statement, Symbol,
};
use netquarry_core::source::{TextRange, lines_of};
use netquarry_core::syntax;

mod broken;

#[test]
fn facts_of_the_cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/syntax/cases");
    let entries = fs::read_dir(folder).expect("the cases can be read");
    let mut cases: Vec<_> = entries.map(|entry| entry.expect("the cases can be read").path()).collect();
    cases.sort();
    for case in cases {
        let text = fs::read_to_string(&case).expect("a case can be read");
        let name = case.file_stem().expect("a file has a name").to_string_lossy();
        insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "facts", omit_expression => true }, {
            insta::assert_snapshot!(&*name, rendered(&text));
        });
    }
}

fn rendered(text: &str) -> String {
    let facts = syntax::facts(text.as_bytes());
    let mut output = String::new();
    render(&facts, text, &mut output).expect("a string takes everything");
    output
}

fn render(facts: &FileFacts, text: &str, output: &mut String) -> fmt::Result {
    for statement in &facts.statements {
        render_statement(facts, text, statement, output)?;
    }
    writeln!(output, "scopes")?;
    for scope in &facts.scopes {
        let parent = scope.parent.map(|parent| parent.0);
        let locals = names(facts, &scope.locals);
        let [line, _] = lines_of(text, scope.range);
        let line = if scope.kind == ScopeKind::Module { 0 } else { line };
        writeln!(output, "    {:?} line {line} in {parent:?}: {locals}", scope.kind)?;
    }
    let exports = &facts.exports;
    if exports.declared {
        let (names, all_of) = (names(facts, &exports.names), names(facts, &exports.all_of));
        writeln!(output, "exports {names}; all of {all_of}; dynamic: {}", exports.dynamic)?;
    }
    facts.diagnostics.iter().try_for_each(|diagnostic| writeln!(output, "{diagnostic:?}"))
}

fn names(facts: &FileFacts, symbols: &[Symbol]) -> String {
    symbols.iter().map(|symbol| facts.name(*symbol)).collect::<Vec<_>>().join(" ")
}

fn render_statement(facts: &FileFacts, text: &str, statement: &Statement, output: &mut String) -> fmt::Result {
    let slice = |range: TextRange| range.slice(text).replace('\n', "\u{23ce}");
    writeln!(output, "{:?}", statement.kind)?;
    let comments = TextRange::new(statement.leading_comments, statement.range.start).slice(text);
    comments.lines().chain(statement.range.slice(text).lines()).try_for_each(|line| writeln!(output, "  | {line}"))?;
    for binding in &statement.bindings {
        let conditional = if binding.conditional { ", conditional" } else { "" };
        let place = slice(binding.range);
        writeln!(output, "    binds {} at `{place}`: {:?}{conditional}", facts.name(binding.name), binding.kind)?;
    }
    for (number, import) in statement.imports.iter().enumerate() {
        writeln!(output, "    imports [{number}] {}", import_text(facts, import))?;
    }
    for reference in &statement.references {
        writeln!(output, "    {}", reference_text(facts, text, reference))?;
    }
    for mutation in &statement.mutations {
        let path = names(facts, &mutation.path);
        writeln!(output, "    changes {} [{path}] {:?}", facts.name(mutation.root), mutation.kind)?;
    }
    for Effect { function, mutation } in &statement.effects {
        let (root, path) = (facts.name(mutation.root), names(facts, &mutation.path));
        writeln!(output, "    {} called: changes {root} [{path}] {:?}", facts.name(*function), mutation.kind)?;
    }
    for key in &statement.keys {
        let place = match key.place {
            KeyPlace::Positional => "positional".to_owned(),
            KeyPlace::Named(name) => format!("named {}", facts.name(name)),
            KeyPlace::Item => "item".to_owned(),
            KeyPlace::Value => "value".to_owned(),
            KeyPlace::Schema => "schema".to_owned(),
        };
        writeln!(output, "    key {:?} at `{}` {place}", key.value, slice(key.range))?;
    }
    for configuration in &statement.configurations {
        writeln!(output, "    configuration `{}`", slice(*configuration))?;
    }
    for entry in statement.dictionary.iter().flat_map(|dictionary| &dictionary.entries) {
        writeln!(output, "    entry {:?} `{}`", entry.key, slice(entry.range))?;
    }
    let annotations: Vec<_> = statement.annotations.iter().map(|range| slice(*range)).collect();
    if !annotations.is_empty() {
        writeln!(output, "    annotations {}", annotations.join(" | "))?;
    }
    for class in &statement.classes {
        let operand = |path: Option<Symbol>| path.map_or("?", |path| facts.name(path));
        let bases: Vec<_> = class.bases.iter().map(|base| operand(base.path)).collect();
        let keywords: Vec<_> = class
            .keywords
            .iter()
            .map(|(name, value)| format!("{}={}", facts.name(*name), operand(value.path)))
            .collect();
        let (name, attributes) = (facts.name(class.name), names(facts, &class.attributes));
        let docstring = class.docstring.map(slice);
        let conditional = class.conditional;
        writeln!(output, "    class {name} at `{}` conditional {conditional}", slice(class.name_range))?;
        writeln!(output, "      bases {bases:?} {keywords:?} attributes {attributes} docstring {docstring:?}")?;
        class.decorators.iter().try_for_each(|decorator| render_decorator(facts, text, decorator, output))?;
        class.methods.iter().try_for_each(|method| render_function(facts, text, method, output))?;
    }
    statement.functions.iter().try_for_each(|function| render_function(facts, text, function, output))
}

fn render_decorator(
    facts: &FileFacts,
    text: &str,
    decorator: &netquarry_core::facts::Decorator,
    output: &mut String,
) -> fmt::Result {
    let path = decorator.path.map(|path| facts.name(path));
    let strings: Vec<_> =
        decorator.strings.iter().map(|(name, value)| (name.map(|name| facts.name(name)), &**value)).collect();
    let (place, called) = (decorator.range.slice(text), decorator.called);
    writeln!(output, "      decorator {path:?} at `{place}` called {called} strings {strings:?}")
}

fn render_function(facts: &FileFacts, text: &str, function: &FunctionFacts, output: &mut String) -> fmt::Result {
    let slice = |range: TextRange| range.slice(text).replace('\n', "\u{23ce}");
    let lines = lines_of(text, function.range);
    let (is_async, is_stub) = (function.is_async, function.is_stub);
    writeln!(
        output,
        "      function {} at `{}` lines {lines:?} async {is_async} stub {is_stub} returns {:?} docstring {:?}",
        facts.name(function.name),
        slice(function.name_range),
        function.returns.map(slice),
        function.docstring.map(slice),
    )?;
    for parameter in &function.parameters {
        let (annotation, default) = (parameter.annotation.map(slice), parameter.default.map(slice));
        writeln!(output, "        {} {:?} {annotation:?} {default:?}", facts.name(parameter.name), parameter.kind)?;
    }
    function.decorators.iter().try_for_each(|decorator| render_decorator(facts, text, decorator, output))
}

fn import_text(facts: &FileFacts, import: &ImportStatement) -> String {
    let module = |module: Option<Symbol>| module.map_or("", |module| facts.name(module));
    let form = match import.form {
        ImportForm::Module => "import".to_owned(),
        ImportForm::From { level, module: from } => {
            format!("from {}{} import", ".".repeat(level as usize), module(from))
        }
        ImportForm::Star { level, module: from } => {
            format!("from {}{} import *", ".".repeat(level as usize), module(from))
        }
    };
    let imported = import.names.iter().map(|name| match name.alias {
        Some(alias) => format!(" {} as {}", facts.name(name.name), facts.name(alias)),
        None => format!(" {}", facts.name(name.name)),
    });
    let imported: Vec<_> = imported.collect();
    let (scope, stands_in) = (import.scope.0, import.stands_in.0);
    let alone = if import.suite.length == 1 { " alone" } else { "" };
    format!(
        "{form}{} binds in {scope} stands in {stands_in} under {:?} suite {}{alone}",
        imported.join(","),
        import.guards,
        import.suite.id
    )
}

fn reference_text(facts: &FileFacts, text: &str, reference: &Reference) -> String {
    let [line, _] = lines_of(text, reference.range);
    let mut output = format!("{line}: {}", reference.range.slice(text));
    for attribute in &reference.path {
        let end = attribute.end as usize;
        assert!(text[..end].ends_with(facts.name(attribute.name)), "the path ends with its attribute");
        write!(output, ".{}", facts.name(attribute.name)).expect("a string takes everything");
    }
    if facts.name(reference.name) != reference.range.slice(text) {
        write!(output, " ({})", facts.name(reference.name)).expect("a string takes everything");
    }
    write!(output, " {:?} {:?} {:?}", reference.access, reference.evaluation, reference.role).expect("as above");
    match reference.assigns {
        Assigns::Nothing => {}
        Assigns::Path => output.push_str(" assigns"),
        Assigns::Item => output.push_str(" assigns an item"),
    }
    if reference.quoted {
        output.push_str(" quoted");
    }
    if let ReferenceBinding::LocalImport { import, name, exclusive } = reference.binding {
        let exclusive = if exclusive { ", exclusive" } else { "" };
        write!(output, " import [{import}].{name}{exclusive}").expect("as above");
    }
    output
}
