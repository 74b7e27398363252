//! What the rules leave out of a definition, or replace in it.

use super::Closing;
use crate::facts::{Call, ClassFacts, StatementKind, Suite};
use crate::index::{DefinitionId, Variable};
use crate::record::ReplacedRecord;
use crate::resolve::Entity;
use crate::source::TextRange;

/// The parts of one definition that its bundle does without.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cuts {
    /// Decorators, without the `@`.
    pub decorators: Vec<TextRange>,
    /// Call statements.
    pub calls: Vec<Call>,
    /// Methods and attributes, each with the class body that it stands in.
    pub members: Vec<(TextRange, Suite)>,
    /// Methods and attributes with the statements that take their place.
    pub replaced_members: Vec<(TextRange, String)>,
    /// Entries of a dictionary, from the key's start to the value's end.
    pub entries: Vec<TextRange>,
    /// Base classes with the comma beside them, and what stands there instead.
    pub bases: Vec<(TextRange, &'static str)>,
}

impl Cuts {
    /// Whether nothing of `range` is left.
    pub fn contain(&self, range: TextRange) -> bool {
        let calls = self.calls.iter().map(|call| call.range);
        let members = self.members.iter().map(|(range, _)| *range);
        let replaced = self.replaced_members.iter().map(|(range, _)| *range);
        let bases = self.bases.iter().map(|(range, _)| *range);
        let listed = self.decorators.iter().chain(&self.entries).copied();
        let mut gone = listed.chain(calls).chain(members).chain(replaced).chain(bases);
        gone.any(|gone| gone.contains(range))
    }
}

impl Closing<'_> {
    /// Applies the rules to a definition; each application is recorded.
    pub(super) fn cut(&mut self, definition: DefinitionId) -> Cuts {
        let mut cuts = Cuts::default();
        let index = self.index;
        for class in &index.statement(definition).classes {
            self.cut_members(definition, class, &mut cuts);
            self.cut_bases(definition, class, &mut cuts);
        }
        cuts.decorators = self.drop_decorators(definition, &cuts);
        cuts.calls = self.drop_calls(definition, &cuts);
        cuts
    }

    fn cut_members(&mut self, definition: DefinitionId, class: &ClassFacts, cuts: &mut Cuts) {
        let index = self.index;
        let path = index.variable_path(Variable { file: definition.file, name: class.name });
        let facts = &index.file(definition.file).facts;
        let mut replaced: Vec<String> = Vec::new();
        for member in &class.members {
            let path = format!("{path}.{}", facts.name(member.name));
            if replaced.contains(&path) {
                cuts.members.push((member.range, class.suite));
            } else if let Some((replacement, plugin)) = self.rules.replacement(&path) {
                self.hold_keys_of_text(&replacement.by);
                cuts.replaced_members.push((member.range, replacement.by.clone()));
                self.note(path.clone(), &replacement.by, &replacement.why, plugin);
                replaced.push(path);
            } else if let Some((rule, plugin)) = self.rules.dropped_member(&path) {
                cuts.members.push((member.range, class.suite));
                self.note(path, "", &rule.why, plugin);
            }
        }
    }

    /// Whether all that a statement changes of `variable` are members that the rules leave out; it is recorded.
    pub(super) fn changes_only_dropped(&mut self, statement: DefinitionId, variable: Variable) -> bool {
        let base = self.index.variable_path(variable);
        self.drops_changes(statement, |entity| (*entity == Entity::Variable(variable)).then(|| base.clone()))
    }

    /// Likewise of objects outside of the corpus.
    pub(super) fn patches_only_dropped(&mut self, statement: DefinitionId) -> bool {
        self.drops_changes(statement, |entity| match entity {
            Entity::External(external) => Some(external.object_path()),
            _ => None,
        })
    }

    /// Whether the rules leave out all that a statement changes of the objects to which `base` gives a path.
    fn drops_changes(&mut self, statement: DefinitionId, base: impl Fn(&Entity) -> Option<String>) -> bool {
        let index = self.index;
        let facts = &index.file(statement.file).facts;
        let mut applied = Vec::new();
        for mutation in &index.statement(statement).mutations {
            let path = std::iter::once(&mutation.root).chain(&mutation.path).map(|part| facts.name(*part));
            let path: Vec<&str> = path.collect();
            let (entity, rest) = index.resolve_parts(statement.file, &path);
            let Some(base) = base(&entity) else { continue };
            let member = rest.first().map(|member| format!("{base}.{member}"));
            let rule = member.as_deref().and_then(|member| self.rules.dropped_member(member));
            let (Some(member), Some((rule, plugin))) = (member, rule) else { return false };
            applied.push((member, rule.why.clone(), plugin.to_owned()));
        }
        for (member, why, plugin) in &applied {
            self.note(format!("the change of {member}"), "", why, plugin);
        }
        !applied.is_empty()
    }

    fn cut_bases(&mut self, definition: DefinitionId, class: &ClassFacts, cuts: &mut Cuts) {
        let index = self.index;
        let mut kept = Vec::new();
        for base in &class.bases {
            let path = base.path.and_then(|path| self.dotted_path(definition.file, path));
            let rule = path.as_ref().and_then(|path| self.rules.dropped_base(path));
            kept.push(rule.is_none());
            if let (Some(path), Some((rule, plugin))) = (path, rule) {
                let what = format!("the base {path} of {}", index.definition_path(definition));
                self.note(what, "", &rule.why, plugin);
            }
        }
        let ranges: Vec<TextRange> = class.bases.iter().map(|base| base.range).collect();
        cuts.bases.extend(without_bases(&ranges, &kept));
    }

    fn note(&mut self, what: String, by: &str, why: &str, plugin: &str) {
        let record = ReplacedRecord { what, by: by.to_owned(), why: why.to_owned(), plugin: plugin.to_owned() };
        self.closure.replaced.push(record);
    }

    /// The decorators of a definition that the rules drop; each is recorded.
    fn drop_decorators(&mut self, definition: DefinitionId, cuts: &Cuts) -> Vec<TextRange> {
        let index = self.index;
        let statement = index.statement(definition);
        if !matches!(statement.kind, StatementKind::Class | StatementKind::Function) {
            return Vec::new();
        }
        let of_classes = statement.classes.iter().flat_map(|class| {
            class.decorators.iter().chain(class.methods.iter().flat_map(|method| &method.decorators))
        });
        let of_functions = statement.functions.iter().flat_map(|function| &function.decorators);
        let mut dropped = Vec::new();
        let stands = of_classes.chain(of_functions).filter(|decorator| !cuts.contain(decorator.range));
        for decorator in stands {
            let path = decorator.path.and_then(|path| self.dotted_path(definition.file, path));
            let Some(path) = path else { continue };
            if let Some((rule, plugin)) = self.rules.dropped_decorator(&path) {
                dropped.push(decorator.range);
                self.note(format!("@{path} on {}", index.definition_path(definition)), "", &rule.why, plugin);
            }
        }
        dropped
    }

    /// The call statements of a definition that the rules drop; each is recorded.
    fn drop_calls(&mut self, definition: DefinitionId, cuts: &Cuts) -> Vec<Call> {
        let index = self.index;
        let statement = index.statement(definition);
        let mut dropped = Vec::new();
        let stands = |call: &&Call| call.statement_in.is_some() && !cuts.contain(call.range);
        for call in statement.calls.iter().filter(stands) {
            let mut references = statement.references.iter().zip(index.resolutions(definition));
            let callee = references.find(|(reference, _)| reference.range.start == call.callee);
            let path =
                callee.and_then(|(reference, resolution)| self.reference_path(definition, reference, resolution));
            let Some((path, (rule, plugin))) =
                path.and_then(|path| Some((path.clone(), self.rules.dropped_call(&path)?)))
            else {
                continue;
            };
            dropped.push(*call);
            self.note(format!("the call of {path} in {}", index.definition_path(definition)), "", &rule.why, plugin);
        }
        dropped
    }
}

/// The edits that leave out the bases that are not kept, each with one comma.
fn without_bases(bases: &[TextRange], kept: &[bool]) -> Vec<(TextRange, &'static str)> {
    let Some(first_kept) = kept.iter().position(|kept| *kept) else {
        // Keywords such as `metaclass=` may follow, which need something before their comma.
        let all = bases.first().zip(bases.last()).map(|(first, last)| TextRange::new(first.start, last.end));
        return all.map(|range| (range, "object")).into_iter().collect();
    };
    let dropped = (0..bases.len()).filter(|place| !kept[*place]);
    dropped
        .map(|place| match place < first_kept {
            true => TextRange::new(bases[place].start, bases[place + 1].start),
            false => TextRange::new(bases[place - 1].end, bases[place].end),
        })
        .map(|range| (range, ""))
        .collect()
}
