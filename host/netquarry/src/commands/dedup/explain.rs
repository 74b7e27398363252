//! `netquarry dedup explain A B`: what two models look like to each strategy.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use netquarry_core::dedup::{BlockSet, CanonicalView, Normalisation, Shingling, Structure};
use netquarry_core::fingerprint::archive::Forgetful;
use serde::Serialize;
use serde_json::{Map, Value};

use super::strategies::with_preset;
use super::threads;
use crate::arguments::DedupExplainArguments;
use crate::commands::Ending;
use crate::configuration::Settings;
use crate::console::{Console, Format};
use crate::driver::curate::{Contender, Contenders as _, Kernels, blocks_of};
use crate::driver::plugins::Plugins;
use crate::driver::select::{is_whole, means, similar};
use crate::models::{Head, Models};
use crate::problem::Problem;
use crate::spool::Spool;
use crate::table::{Align, STRONG, Table};

/// What the strategies shingle by: the default preset and NN-DUP.
const SHINGLINGS: [Shingling; 6] = [
    Shingling { normalisation: Normalisation::Canonical(CanonicalView::Digest), width: 1 },
    Shingling { normalisation: Normalisation::Canonical(CanonicalView::Tokens), width: 5 },
    Shingling { normalisation: Normalisation::Canonical(CanonicalView::Operations), width: 1 },
    Shingling { normalisation: Normalisation::Canonical(CanonicalView::Flow), width: 1 },
    Shingling { normalisation: Normalisation::Canonical(CanonicalView::ReachedOperations), width: 1 },
    Shingling { normalisation: Normalisation::NnDup, width: 10 },
];

#[derive(Serialize)]
struct Explanation {
    first: String,
    second: String,
    #[serde(flatten)]
    distance: Distance,
    strategies: Vec<Opinion>,
}

/// How far two models are from each other.
#[derive(Serialize)]
pub(in crate::commands) struct Distance {
    /// The texts are the same.
    equal_code: bool,
    lexical: Vec<Lexical>,
    structural: Structural,
}

/// Two sets of shingles.
#[derive(Serialize)]
struct Lexical {
    normalisation: &'static str,
    width: u32,
    jaccard: f64,
    /// In each of the two.
    shingles: [u32; 2],
}

#[derive(Serialize)]
struct Structural {
    equal: bool,
    jaccard: f64,
    only_first: Vec<String>,
    only_second: Vec<String>,
}

/// What a strategy decides about the two alone.
#[derive(Serialize)]
struct Opinion {
    strategy: String,
    /// What it decides by.
    options: Map<String, Value>,
    removes: Option<Removes>,
}

#[derive(Serialize)]
struct Removes {
    model: String,
    reason: String,
    similarity: Option<f64>,
}

pub(super) fn explain(
    arguments: &DedupExplainArguments,
    settings: &Settings,
    console: &Console,
) -> Result<Ending, Problem> {
    let preset = with_preset(&arguments.preset, settings)?;
    let spool = Arc::new(Spool::new(&settings.cache_dir)?);
    let input = arguments.input.as_deref().unwrap_or(&settings.out);
    let [first, second] = both(arguments, input, &spool)?;
    let strategies = Plugins::load_dedup(&preset.settings)?;
    let pool = threads(settings)?;
    let kernels = Kernels { pool: &pool, spool: &spool, archive: Arc::new(Forgetful) };
    let blocks: Arc<dyn BlockSet> = Arc::new(blocks_of(&kernels, &[first.clone(), second.clone()][..]));
    let name = |block: u32| if block == 0 { first.block.clone() } else { second.block.clone() };
    let mut opinions = Vec::new();
    for strategy in &strategies {
        let decisions = pool.install(|| strategy.run(&blocks)).map_err(|error| Problem::from(&error))?;
        let removes = decisions.removals.into_iter().next().map(|removal| Removes {
            model: name(removal.block),
            reason: removal.reason,
            similarity: removal.similarity,
        });
        let (name, options) = (strategy.plugin().name.clone(), strategy.options().clone());
        opinions.push(Opinion { strategy: name, options, removes });
    }
    let explanation = Explanation {
        distance: pool.install(|| Distance::of(&*blocks)),
        strategies: opinions,
        first: name(0),
        second: name(1),
    };
    spool.check()?;
    match console.format {
        Format::Json => console.print_json(&explanation)?,
        Format::Human => console.print(&text(&explanation, console))?,
    }
    Ok(Ending::Done)
}

/// How far two models are from each other, whatever any strategy makes of it.
pub(in crate::commands) fn distance(
    models: [Contender; 2],
    settings: &Settings,
    spool: &Arc<Spool>,
) -> Result<Distance, Problem> {
    let pool = threads(settings)?;
    let kernels = Kernels { pool: &pool, spool, archive: Arc::new(Forgetful) };
    let blocks = blocks_of(&kernels, &models[..]);
    let distance = pool.install(|| Distance::of(&blocks));
    spool.check()?;
    Ok(distance)
}

impl Distance {
    fn of(blocks: &dyn BlockSet) -> Self {
        Self {
            equal_code: blocks.summary(0).sha256 == blocks.summary(1).sha256,
            lexical: SHINGLINGS.map(|shingling| lexical(blocks, shingling)).into(),
            structural: structural(blocks),
        }
    }

    /// As a table and a few lines, in which the two are A and B; first which is which.
    pub(in crate::commands) fn told(&self, [first, second]: [&str; 2], console: &Console) -> String {
        let Self { equal_code, lexical, structural } = self;
        let strong = console.out_style(STRONG);
        let mut text = format!("{strong}A{strong:#}  {first}\n{strong}B{strong:#}  {second}\n\n");
        if *equal_code {
            text.push_str("The code is the same.\n\n");
        }
        let columns =
            [("shingles of", Align::Left), ("tokens", Align::Right), ("in A", Align::Right), ("in B", Align::Right)];
        let mut table = Table::new(&[&columns[..], &[("Jaccard", Align::Right)]].concat());
        for Lexical { normalisation, width, jaccard, shingles } in lexical {
            let [in_first, in_second] = shingles.map(|count| count.to_string());
            table.row(vec![
                (*normalisation).to_owned(),
                width.to_string(),
                in_first,
                in_second,
                format!("{jaccard:.3}"),
            ]);
        }
        text.push_str(&table.render(|style| console.out_style(style)));
        let equal = if structural.equal { ", equal" } else { "" };
        let _ = write!(text, "\nStructure: Jaccard {:.3}{equal}\n", structural.jaccard);
        for (side, only) in [("A", &structural.only_first), ("B", &structural.only_second)] {
            if !only.is_empty() {
                let _ = writeln!(text, "  only {side}: {}", only.join(", "));
            }
        }
        text
    }
}

fn lexical(blocks: &dyn BlockSet, shingling: Shingling) -> Lexical {
    Lexical {
        normalisation: shingling.normalisation.name(),
        width: shingling.width,
        jaccard: blocks.jaccard(0, &[1], shingling)[0],
        shingles: [0, 1].map(|block| blocks.shingle_count(block, shingling)),
    }
}

fn structural(blocks: &dyn BlockSet) -> Structural {
    let [first, second] = [0, 1].map(|block| blocks.structure(block));
    let [in_first, in_second] = [&first, &second].map(parts);
    Structural {
        equal: first.sha256 == second.sha256,
        jaccard: blocks.structural_jaccard(0, &[1])[0],
        only_first: in_first.difference(&in_second).cloned().collect(),
        only_second: in_second.difference(&in_first).cloned().collect(),
    }
}

/// `2 Conv2d`, `kernel_size=4`
fn parts(structure: &Structure) -> BTreeSet<String> {
    let calls = structure.call_counts.iter().map(|(name, count)| format!("{count} {name}"));
    let hyperparameters = structure.hyperparameters.iter().map(|(name, value)| format!("{name}={value}"));
    calls.chain(hyperparameters).collect()
}

/// The two models that are meant.
fn both(arguments: &DedupExplainArguments, input: &Path, spool: &Arc<Spool>) -> Result<[Contender; 2], Problem> {
    // Read only where it is needed, and once.
    let mut models = None;
    let mut one = |wanted: &str| -> Result<Contender, Problem> {
        let file = Path::new(wanted);
        if file.is_file() {
            return Models::single(file, spool);
        }
        if models.is_none() && arguments.input.is_none() && !input.exists() {
            let problem =
                format!("`{wanted}` is no Python file, and there is no library `{}` to look in", input.display());
            return Err(Problem::new(problem).help("name two Python files, or what to look in with --input"));
        }
        let models = match &mut models {
            Some(models) => models,
            models => models.insert(Models::read(input, spool)?),
        };
        find(models, wanted, input)
    };
    Ok([one(&arguments.first)?, one(&arguments.second)?])
}

fn find(models: &Models, wanted: &str, input: &Path) -> Result<Contender, Problem> {
    let heads: Vec<Head> = models.heads()?;
    let places = |is_meant: &dyn Fn(&Head) -> bool| -> Vec<usize> {
        (0..heads.len()).filter(|place| is_meant(&heads[*place])).collect()
    };
    let mut meant = places(&|head| is_whole(wanted, &head.block));
    meant.truncate(1);
    if meant.is_empty() {
        meant = places(&|head| head.name == wanted || means(wanted, &head.block));
    }
    match &meant[..] {
        [place] => Ok(models.contender(*place)),
        [] => {
            let known = heads.iter().map(|head| (head.name.as_str(), head.block.as_str()));
            let problem = Problem::new(format!("`{wanted}` is no Python file and no model of `{}`", input.display()));
            Err(match &similar(wanted, known)[..] {
                [] => problem.help("name another place to look in with --input"),
                similar => problem.help(format!("did you mean {}?", similar.join(", "))),
            })
        }
        [first, second, ..] => Err(Problem::new(format!("`{wanted}` means several models of `{}`", input.display()))
            .help(format!("say which, as in {} or {}", heads[*first].block, heads[*second].block))),
    }
}

fn text(explanation: &Explanation, console: &Console) -> String {
    let Explanation { first, second, distance, strategies } = explanation;
    let mut text = distance.told([first, second], console);
    text.push('\n');
    for Opinion { strategy, options, removes } in strategies {
        let _ = match removes {
            None => writeln!(text, "{strategy}: keeps both"),
            Some(Removes { model, reason, similarity }) => {
                let side = if model == first { "A" } else { "B" };
                let similarity = similarity.map(|similarity| format!(" ({similarity:.3})")).unwrap_or_default();
                writeln!(text, "{strategy}: removes {side}, {}{similarity}", reason.replace('_', " "))
            }
        };
        let shown = options.iter().filter(|(_, value)| says_something(value));
        let shown: Vec<String> = shown.map(|(name, value)| format!("{name} = {}", on_one_line(value))).collect();
        if !shown.is_empty() {
            let _ = writeln!(text, "  {}", shown.join(", "));
        }
    }
    text
}

/// As the configuration has it.
fn on_one_line(value: &Value) -> String {
    match value {
        Value::Array(values) => format!("[{}]", values.iter().map(on_one_line).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| format!("{name} = {}", on_one_line(value)));
            format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
        }
        value => value.to_string(),
    }
}

/// Whether a value is more than nothing.
fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(values) => !values.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::{ColorChoice, Verbosity};

    #[test]
    fn columns_are_introduced() {
        let structural =
            Structural { equal: false, jaccard: 0.5, only_first: vec!["2 Conv2d".to_owned()], only_second: Vec::new() };
        let lexical = vec![Lexical { normalisation: "tokens", width: 5, jaccard: 0.25, shingles: [7, 8] }];
        let distance = Distance { equal_code: false, lexical, structural };
        let console = Console::new(Format::Human, Verbosity::Quiet, ColorChoice::Never);
        let told = distance.told(["mine.py", "pack:pack.Halve"], &console);
        assert!(told.starts_with("A  mine.py\nB  pack:pack.Halve\n\n"), "{told}");
        assert!(told.contains("in A") && told.ends_with("only A: 2 Conv2d\n"), "{told}");
    }
}
