//! What distributions are imported as: by the environment where it has them, else by the index, which is asked once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use netquarry_corpus::failure::FetchFailure;
use netquarry_corpus::fetch::FetchOptions;
use netquarry_corpus::provides::provides;

use super::context::Context;
use super::in_parallel::in_parallel;
use crate::environment::Environment;
use crate::problem::Problem;

/// What is known so far.
pub(super) struct ImportNames<'a> {
    context: &'a Context<'a>,
    environment: &'a Environment,
    index: FetchOptions,
    /// By distribution; `None` where the index could not tell.
    known: Mutex<BTreeMap<String, Option<BTreeSet<String>>>>,
}

impl<'a> ImportNames<'a> {
    /// Nothing is asked yet.
    pub(super) fn new(context: &'a Context<'a>, environment: &'a Environment) -> Self {
        let settings = context.settings;
        let index = FetchOptions { offline: settings.offline, ..FetchOptions::new(settings.cache_dir.join("sources")) };
        Self { context, environment, index, known: Mutex::default() }
    }

    /// The packages of these distributions; those of which nothing is known are left out.
    pub(super) fn of(&self, names: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
        let unknown: Vec<&str> = {
            let known = self.known.lock().expect("no panic while asking");
            names.iter().copied().filter(|name| !known.contains_key(*name)).collect()
        };
        let task = self.context.console.task("Looking up", "distributions", unknown.len() as u64);
        let answers = in_parallel(&unknown, |name| {
            let answer = self.ask(name);
            task.advance(1);
            answer
        });
        drop(task);
        let silent = unknown.iter().zip(&answers).filter_map(|(name, answer)| Some((*name, answer.as_ref().err()?)));
        self.tell_silence(silent);
        let answers = answers.into_iter().map(Result::ok);
        let mut known = self.known.lock().expect("no panic while asking");
        known.extend(unknown.iter().map(|name| (*name).to_owned()).zip(answers));
        names.iter().filter_map(|name| Some(((*name).to_owned(), known.get(*name)?.clone()?))).collect()
    }

    /// Whether the index could not tell of some distribution, which it may another time.
    pub(super) fn are_incomplete(&self) -> bool {
        self.known.lock().expect("no panic while asking").values().any(Option::is_none)
    }

    fn ask(&self, name: &str) -> Result<BTreeSet<String>, FetchFailure> {
        if self.environment.distributions.contains_key(name) {
            let packages = self.environment.packages.iter();
            let of_this = packages.filter(|(_, distributions)| distributions.iter().any(|other| other == name));
            return Ok(of_this.map(|(package, _)| package.clone()).collect());
        }
        provides(name, &self.index)
    }

    /// One warning for each reason.
    fn tell_silence<'s>(&self, silent: impl Iterator<Item = (&'s str, &'s FetchFailure)>) {
        let help = match self.context.settings.offline {
            true => "run once without --offline; until then, bundles that need them fail with `missing_distribution`",
            false => "bundles that need them fail with `missing_distribution`; the next run asks again",
        };
        for Silence { names, failure } in by_reason(silent) {
            let what = format!("It cannot be told what these distributions are imported as: {}", names.join(", "));
            self.context.console.warn(&Problem::new(what).because(failure.to_string()).help(help));
        }
    }
}

/// Distributions of which nothing can be learnt for the same reason.
#[derive(Debug)]
struct Silence<'s> {
    names: Vec<&'s str>,
    /// That of the first.
    failure: &'s FetchFailure,
}

/// An index that does not answer is one reason, though it is asked at another address for each distribution.
fn by_reason<'s>(silent: impl Iterator<Item = (&'s str, &'s FetchFailure)>) -> Vec<Silence<'s>> {
    let mut by_reason: BTreeMap<String, Silence<'s>> = BTreeMap::new();
    for (name, failure) in silent {
        let reason = match failure {
            FetchFailure::Network { why, .. } => why.clone(),
            FetchFailure::Status { status, .. } => status.to_string(),
            of_one => of_one.to_string(),
        };
        by_reason.entry(reason).or_insert_with(|| Silence { names: Vec::new(), failure }).names.push(name);
    }
    by_reason.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_that_does_not_answer_is_told_apart_from_a_broken_wheel() {
        let late = |name: &str| FetchFailure::Network {
            url: format!("https://index/simple/{name}/"),
            why: "operation timed out".to_owned(),
        };
        let broken = FetchFailure::BrokenArchive { archive: "two.whl".to_owned(), why: "no directory".to_owned() };
        let silent = [("one", late("one")), ("two", broken), ("three", late("three"))];
        let told: Vec<_> = by_reason(silent.iter().map(|(name, failure)| (*name, failure)))
            .into_iter()
            .map(|silence| (silence.names, silence.failure.to_string()))
            .collect();
        let expected = [
            (vec!["one", "three"], "https://index/simple/one/: operation timed out".to_owned()),
            (vec!["two"], "two.whl cannot be unpacked: no directory".to_owned()),
        ];
        assert_eq!(told, expected);
    }
}
