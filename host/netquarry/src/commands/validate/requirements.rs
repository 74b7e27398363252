//! What is installed for files that are no bundles of a library.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::configuration::{RequirementText, Settings};
use crate::environment::Environment;
use crate::problem::Problem;

/// The requirements that files list, one a line, in their order.
///
/// # Errors
/// A file cannot be read, or a line is no requirement of a package index.
pub(super) fn read(files: &[PathBuf]) -> Result<Vec<String>, Problem> {
    let mut requirements = Vec::new();
    for file in files {
        let text = fs::read_to_string(file).map_err(|error| Problem::io("read", file, error))?;
        requirements.extend(parse(file, &text)?);
    }
    Ok(requirements)
}

fn parse(file: &Path, text: &str) -> Result<Vec<String>, Problem> {
    let mut requirements = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let is_comment = |at: &usize| *at == 0 || line[..*at].ends_with(char::is_whitespace);
        let comment = line.match_indices('#').map(|(at, _)| at).find(is_comment);
        let requirement = line[..comment.unwrap_or(line.len())].trim();
        if !requirement.is_empty() {
            let RequirementText(requirement) = RequirementText::try_from(requirement.to_owned()).map_err(|reason| {
                Problem::new(format!("`{}` cannot be used with --requirements", file.display()))
                    .at(file, text, start..start + line.trim_end().len(), &reason)
                    .help("give one requirement a line; options of pip (-r, -e, --hash) are not read")
            })?;
            requirements.push(requirement);
        }
        start += line.len();
    }
    Ok(requirements)
}

/// What the user names for those of `packages` that the environment lacks. Nothing else is installed for a file.
pub(super) fn of_imports(packages: &BTreeSet<String>, environment: &Environment, settings: &Settings) -> Vec<String> {
    let lacking = packages.iter().filter(|package| !environment.provides(package));
    let named: BTreeSet<&String> = lacking.filter_map(|package| settings.requirements.get(package)).collect();
    named.into_iter().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_empty_lines_say_nothing() {
        let text = "# for the encoder\neinops>=0.8\t# any\n\n  timm == 1.0.26\r\nnumpy; python_version < '4'";
        let requirements = parse(Path::new("requirements.txt"), text).unwrap();
        assert_eq!(requirements, ["einops>=0.8", "timm==1.0.26", "numpy ; python_full_version < '4'"]);
    }

    #[test]
    fn what_is_no_requirement_is_pointed_at() {
        for text in ["einops\n-r more.txt\n", "einops\n--hash=sha256:0\n", "einops\n./folder\n", "einops\na b\n"] {
            let problem = parse(Path::new("requirements.txt"), text).unwrap_err();
            let message = crate::problem::render(&problem, false, Some(100));
            assert!(message.contains("requirements.txt:2:1"), "{message}");
        }
    }
}
