//! `netquarry corpus list|show|schema`

use netquarry_corpus::corpus::{self, Corpus};
use netquarry_corpus::{load, shipped};
use serde::Serialize;

use super::Ending;
use crate::arguments::CorpusCommand;
use crate::console::{Console, Format};
use crate::problem::Problem;
use crate::table::{Align, Table};

#[derive(Serialize)]
struct Listed {
    name: String,
    sources: Vec<String>,
    description: String,
}

pub(super) fn corpus(command: &CorpusCommand, console: &Console) -> Result<Ending, Problem> {
    match command {
        CorpusCommand::List => list(console)?,
        CorpusCommand::Show { corpus } => {
            let corpus: Corpus = load::load(corpus)?;
            console.print_json(&corpus)?;
        }
        CorpusCommand::Schema => console.print(&corpus::schema())?,
    }
    Ok(Ending::Done)
}

fn list(console: &Console) -> Result<(), Problem> {
    let mut listed = Vec::new();
    for name in shipped::names() {
        let corpus = load::load(name)?;
        let sources = corpus.sources.iter().map(|source| source.name.clone()).collect();
        listed.push(Listed { name: name.to_owned(), sources, description: corpus.description });
    }
    if console.format == Format::Json {
        return console.print_json(&listed);
    }
    let mut table = Table::new(&[("corpus", Align::Left), ("sources", Align::Right), ("", Align::Left)]);
    for corpus in listed {
        table.row(vec![corpus.name, corpus.sources.len().to_string(), corpus.description]);
    }
    console.print(&table.render(|style| console.out_style(style)))
}
