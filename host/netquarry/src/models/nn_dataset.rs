//! The models of LEMUR, from a wheel of `nn-dataset`: for each task, dataset, metric, model and epoch the trials of the best
//! accuracy, as LEMUR's own `data(only_best_accuracy=True)` gives them, in its order.
//!
//! As in LEMUR's import, a trial that it cannot take ends its file: one whose model, metric or transform is not there, that
//! has no `uid`, that has a value that SQLite does not take, or that was seen before. So does what is no JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::Path;

use serde_json::Value;
use zip::ZipArchive;

use super::rows::Row;
use crate::problem::Problem;

type Archive = ZipArchive<BufReader<File>>;

/// What the trials of a file are of: task, dataset, metric, model and epoch.
type Group = (String, String, String, String, i64);

/// What a wheel holds.
#[derive(Default)]
struct Contents {
    codes: BTreeMap<String, String>,
    metrics: BTreeSet<String>,
    transforms: BTreeSet<String>,
    /// The places of the files of trials in the wheel.
    trials: BTreeMap<Group, Vec<usize>>,
}

/// # Errors
/// The wheel cannot be read, or is none of `nn-dataset`.
pub(super) fn rows(path: &Path) -> Result<impl Iterator<Item = Result<Row, Problem>>, Problem> {
    let unreadable = |error: zip::result::ZipError| {
        Problem::new(format!("`{}` cannot be read as a wheel", path.display())).because(error)
    };
    let file = File::open(path).map_err(|error| Problem::io("read", path, error))?;
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(unreadable)?;
    let contents = Contents::of(&mut archive).map_err(unreadable)?;
    if contents.trials.is_empty() {
        return Err(Problem::new(format!("`{}` holds no trials of LEMUR", path.display()))
            .help("name a wheel of nn-dataset, with `ab/nn/stat/train/` in it"));
    }
    let Contents { codes, metrics, transforms, trials } = contents;
    Ok(trials.into_iter().flat_map(move |((_, _, metric, name, _), files)| {
        let mut accuracies = Vec::new();
        for file in files {
            let text = match text(&mut archive, file) {
                Ok(text) => text,
                Err(error) => return vec![Err(Problem::new(format!("The trials of `{name}`")).because(error))],
            };
            if codes.contains_key(&name) && metrics.contains(&metric) {
                accuracies.extend(accuracies_of(&text, &transforms));
            }
        }
        let best = accuracies.iter().copied().reduce(f64::max);
        let row = |accuracy| Ok(Row { name: name.clone(), code: codes[&name].clone(), accuracy: Some(accuracy) });
        accuracies.into_iter().filter(|accuracy| Some(*accuracy) == best).map(row).collect()
    }))
}

impl Contents {
    fn of(archive: &mut Archive) -> zip::result::ZipResult<Self> {
        let mut contents = Self::default();
        let names: zip::result::ZipResult<Vec<String>> =
            archive.file_names().map(|name| Ok(name?.into_owned())).collect();
        for (index, name) in names?.into_iter().enumerate() {
            match *name.split('/').collect::<Vec<_>>() {
                ["ab", "nn", "nn", file] => {
                    let Some(model) = file.strip_suffix(".py") else { continue };
                    contents.codes.insert(model.to_owned(), with_plain_line_ends(&text(archive, index)?));
                }
                ["ab", "nn", "metric", file] => contents.metrics.extend(file.strip_suffix(".py").map(str::to_owned)),
                ["ab", "nn", "transform", file] => {
                    contents.transforms.extend(file.strip_suffix(".py").map(str::to_owned));
                }
                ["ab", "nn", "stat", "train", folder, file] => {
                    if let Some(group) = group(folder, file) {
                        contents.trials.entry(group).or_default().push(index);
                    }
                }
                _ => {}
            }
        }
        Ok(contents)
    }
}

fn text(archive: &mut Archive, index: usize) -> zip::result::ZipResult<String> {
    let mut bytes = Vec::new();
    archive.by_index(index)?.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// As Python reads a text.
fn with_plain_line_ends(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// `img-classification_cifar-10_acc_ResNet/5.json`
fn group(folder: &str, file: &str) -> Option<Group> {
    let epoch = file.strip_suffix(".json")?.parse().ok()?;
    let [task, dataset, metric, name] = *folder.split('_').collect::<Vec<_>>() else { return None };
    Some((task.to_owned(), dataset.to_owned(), metric.to_owned(), name.to_owned(), epoch))
}

/// Those of the trials of a file that LEMUR imports.
fn accuracies_of(text: &str, transforms: &BTreeSet<String>) -> Vec<f64> {
    let trials: Vec<Value> = serde_json::from_str(text).unwrap_or_default();
    let mut seen = BTreeSet::new();
    let imported = trials.iter().map_while(|trial| {
        let trial = trial.as_object()?;
        let is_known = transforms.contains(trial.get("transform")?.as_str()?);
        let fits = |value: &Value| !matches!(value, Value::Array(_) | Value::Object(_)) && !is_beyond_64_bits(value);
        let identity = ["transform", "uid", "duration", "accuracy"].map(|key| trial.get(key).map(plain));
        (is_known && trial.contains_key("uid") && trial.values().all(fits) && seen.insert(identity))
            .then(|| trial.get("accuracy").and_then(Value::as_f64))
    });
    imported.flatten().collect()
}

fn is_beyond_64_bits(value: &Value) -> bool {
    value.as_u64().is_some_and(|number| i64::try_from(number).is_err())
}

/// Without blanks, which do not count when trials are told apart.
fn plain(value: &Value) -> String {
    value.to_string().split_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    fn rows_of(files: &[(&str, &str)]) -> Vec<(String, String, Option<f64>)> {
        let wheel = tempfile::NamedTempFile::new().unwrap();
        let mut writer = ZipWriter::new(wheel.reopen().unwrap());
        for (name, text) in files {
            writer.start_file(*name, SimpleFileOptions::default()).unwrap();
            writer.write_all(text.as_bytes()).unwrap();
        }
        writer.finish().unwrap();
        let rows = rows(wheel.path()).unwrap().map(Result::unwrap);
        rows.map(|Row { name, code, accuracy }| (name, code, accuracy)).collect()
    }

    fn row(name: &str, accuracy: f64) -> (String, String, Option<f64>) {
        (name.to_owned(), format!("class {name}:\n    pass\n"), Some(accuracy))
    }

    const LEMUR: [(&str, &str); 4] = [
        ("ab/nn/nn/Net.py", "class Net:\r\n    pass\r\n"),
        ("ab/nn/nn/Alt.py", "class Alt:\n    pass\n"),
        ("ab/nn/metric/acc.py", ""),
        ("ab/nn/transform/plain.py", ""),
    ];

    #[test]
    fn the_best_trials_of_each_epoch_come_in_order() {
        let net = r#"[{"transform": "plain", "uid": "1", "accuracy": 0.5}, {"transform": "plain", "uid": "2", "accuracy": 0.7},
            {"transform": "plain", "uid": "3", "accuracy": 0.7}]"#;
        let alt = r#"[{"transform": "plain", "uid": "1", "accuracy": 0.1}]"#;
        let trials = [
            ("ab/nn/stat/train/task_mnist_acc_Net/10.json", net),
            ("ab/nn/stat/train/task_mnist_acc_Net/9.json", alt),
            ("ab/nn/stat/train/task_mnist_acc_Alt/3.json", alt),
            ("ab/nn/stat/train/task_mnist_acc_Net_more/1.json", net),
            ("ab/nn/stat/train/task_mnist_acc_Missing/1.json", net),
            ("ab/nn/stat/train/task_mnist_other_Net/1.json", net),
        ];
        let rows = rows_of(&[&LEMUR[..], &trials[..]].concat());
        assert_eq!(rows, [row("Alt", 0.1), row("Net", 0.1), row("Net", 0.7), row("Net", 0.7)]);
    }

    #[test]
    fn a_trial_that_lemur_cannot_take_ends_its_file() {
        let trial = |more: &str| {
            format!(
                r#"[{{"transform": "plain", "uid": "1", "accuracy": 0.5}}, {more},
            {{"transform": "plain", "uid": "4", "accuracy": 0.9}}]"#
            )
        };
        let ends = [
            r#"{"transform": "unknown", "uid": "2", "accuracy": 0.6}"#,
            r#"{"transform": "plain", "accuracy": 0.6}"#,
            r#"{"transform": "plain", "uid": "2", "accuracy": 0.6, "lr": [1]}"#,
            r#"{"transform": "plain", "uid": "1", "accuracy": 0.5}"#,
            "7",
        ];
        for end in ends {
            let trials = trial(end);
            let file = ("ab/nn/stat/train/task_mnist_acc_Net/1.json", trials.as_str());
            let others = ("ab/nn/stat/train/task_mnist_acc_Alt/1.json", "no JSON");
            assert_eq!(rows_of(&[&LEMUR[..], &[file, others]].concat()), [row("Net", 0.5)], "{end}");
        }
        let without_accuracy = trial(r#"{"transform": "plain", "uid": "2", "accuracy": null, "lr": null}"#);
        let file = ("ab/nn/stat/train/task_mnist_acc_Net/1.json", without_accuracy.as_str());
        assert_eq!(rows_of(&[&LEMUR[..], &[file]].concat()), [row("Net", 0.9)]);
    }
}
