//! Names of distributions, as requirements and indexes write them.

/// `torch` of `torch>=2.0; python_version > "3.8"`.
pub fn distribution_name(requirement: &str) -> &str {
    let end = requirement.find(|character: char| !(character.is_alphanumeric() || "-_.".contains(character)));
    &requirement[..end.unwrap_or(requirement.len())]
}

/// As PEP 503 has it.
pub fn normalised(name: &str) -> String {
    let mut normalised = String::new();
    for character in name.to_lowercase().chars() {
        match character {
            '-' | '_' | '.' if normalised.ends_with('-') => {}
            '-' | '_' | '.' => normalised.push('-'),
            character => normalised.push(character),
        }
    }
    normalised
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_requirements_are_read_and_normalised() {
        assert_eq!(distribution_name("torch>=2.0; python_version > \"3.8\""), "torch");
        assert_eq!(distribution_name("ruamel.yaml[all]"), "ruamel.yaml");
        assert_eq!(normalised("Ruamel__.Yaml"), "ruamel-yaml");
    }
}
