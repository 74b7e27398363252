//! The files of a new plugin.

use std::fs;
use std::path::{Path, PathBuf};

use include_dir::{Dir, File};
use netquarry_core::{module, stdlib};
use netquarry_plugin::Kind;
use netquarry_registry::name::is_first_party;

use super::project::Language;
use super::sdk;
use super::stamp::OUTPUTS;
use crate::problem::Problem;

/// What a new plugin is called, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPlugin {
    /// `shim-acme`
    pub name: String,
    pub kind: Kind,
    pub language: Language,
}

impl NewPlugin {
    /// Writes the files into `folder`, which must be missing or empty. What is written builds, and passes its tests.
    pub fn write(&self, folder: &Path) -> Result<(), Problem> {
        let Self { name, .. } = self;
        check_name(name, self.language)?;
        check_folder(folder)?;
        let template = sdk::template(self.language);
        for part in ["common", self.kind.name()] {
            let files = template.get_dir(part).expect("every language has files of each kind");
            self.write_folder(files, files.path(), folder)?;
        }
        sdk::write(folder, self.language)
    }

    fn write_folder(&self, from: &Dir<'_>, root: &Path, to: &Path) -> Result<(), Problem> {
        for file in from.files().filter(|file| file.path().extension().is_none_or(|ending| ending != "pyc")) {
            self.write_file(file, root, to)?;
        }
        from.dirs().try_for_each(|folder| self.write_folder(folder, root, to))
    }

    fn write_file(&self, file: &File<'_>, root: &Path, to: &Path) -> Result<(), Problem> {
        let path = file.path().strip_prefix(root).expect("it lies below").to_string_lossy().into_owned();
        // Cargo would take a manifest for one of ours.
        let path = self.filled(path.strip_suffix(".template").unwrap_or(&path));
        let text = file.contents_utf8().expect("templates are text");
        sdk::write_file(&to.join(path), self.filled(text).as_bytes())
    }

    /// The text with the names of this plugin in it.
    fn filled(&self, text: &str) -> String {
        let package = self.name.replace('-', "_");
        let class: String = self.name.split('-').map(capitalised).collect();
        text.replace("{{name}}", &self.name).replace("{{package}}", &package).replace("{{class}}", &class)
    }
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

fn check_name(name: &str, language: Language) -> Result<(), Problem> {
    let plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    let begins = name.starts_with(|first: char| first.is_ascii_lowercase());
    let is_name = begins && name.len() <= 64 && name.chars().all(plain) && !name.ends_with('-') && !name.contains("--");
    let why = if !is_name {
        "a name begins with a lower-case letter and goes on with such letters, digits and single hyphens, 64 at most"
    } else if name == SDK {
        "the SDK that it is built with is called so"
    } else if is_first_party(name) {
        "a plugin that comes with the program is called so"
    } else if OUTPUTS.contains(&name) {
        "what is built and packed lies in a folder of that name"
    } else if language == Language::Python && !is_package(&name.replace('-', "_")) {
        "its package would be called so, which is a word or a module of Python's own"
    } else {
        return Ok(());
    };
    Err(Problem::new(format!("`{name}` cannot be the name of a plugin"))
        .because(why)
        .help("for a shim of the repository acme, `shim-acme` does well"))
}

/// Whether Python can import it, and finds it and no module of its own.
fn is_package(name: &str) -> bool {
    module::name(None, &format!("{name}.py")).is_some() && !stdlib::is_module(name)
}

/// The package of the SDK, in both languages.
const SDK: &str = "netquarry-sdk";

fn check_folder(folder: &Path) -> Result<(), Problem> {
    match fs::read_dir(folder).map(|mut entries| entries.next().is_some()) {
        Ok(false) => Ok(()),
        Ok(true) => Err(Problem::new(format!("`{}` is there already, and is not empty", folder.display()))
            .help("name another folder with --path")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Problem::io("look into", folder, error)),
    }
}

/// Where a plugin goes of which only the name is given.
pub fn default_folder(name: &str) -> PathBuf {
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_none_are_refused() {
        let all = [Language::Rust, Language::Python];
        for (name, languages) in [("shim-acme", &all[..]), ("x", &all), ("dedup-2", &all), ("json", &all[..1])] {
            for language in languages {
                check_name(name, *language).unwrap_or_else(|problem| panic!("{name}: {problem}"));
            }
        }
        for name in ["", "Shim", "2x", "-x", "a--b", "a-", "a_b", "../x", "netquarry-sdk", &"a".repeat(65)] {
            assert!(all.iter().all(|language| check_name(name, *language).is_err()), "{name}");
        }
        for name in ["class", "json", "types"] {
            assert!(check_name(name, Language::Python).is_err(), "{name}");
        }
    }

    #[test]
    fn templates_are_filled() {
        let plugin = NewPlugin { name: "shim-acme2".to_owned(), kind: Kind::RepoShim, language: Language::Rust };
        assert_eq!(plugin.filled("{{name}} {{package}}::{{class}}"), "shim-acme2 shim_acme2::ShimAcme2");
    }

    #[test]
    fn what_is_there_is_not_written_over() {
        let folder = tempfile::tempdir().expect("there is room");
        let plugin = NewPlugin { name: "dedup-x".to_owned(), kind: Kind::DedupStrategy, language: Language::Rust };
        plugin.write(folder.path()).expect("the folder is empty");
        let text = fs::read_to_string(folder.path().join("Cargo.toml")).expect("it was written");
        assert!(text.contains("name = \"dedup-x\""), "{text}");
        assert!(
            plugin.write(folder.path()).expect_err("it is not empty any more").to_string().contains("is not empty")
        );
    }
}
