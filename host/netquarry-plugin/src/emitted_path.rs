//! Which paths an emitter may return, and a registry name.

use crate::error::quoted;

/// Longer names than this do not exist on common file systems.
const COMPONENT_BYTES: usize = 255;
const PATH_BYTES: usize = 1024;

/// Names that mean a device on Windows, whatever follows the first dot.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// Checks that a path is relative, stays inside of its folder, and is a file name on every system.
///
/// # Errors
/// What is wrong with it.
pub fn check_path(path: &str) -> Result<(), String> {
    let refuse = |why: &str| Err(format!("the path {} {why}", quoted(path)));
    if path.is_empty() {
        return refuse("is empty");
    }
    if path.len() > PATH_BYTES {
        return Err(format!("a path is {} bytes long, and may have {PATH_BYTES}", path.len()));
    }
    if path.starts_with('/') {
        return refuse("is absolute");
    }
    for component in path.split('/') {
        if component == ".." {
            return refuse("leads out of the folder");
        }
        if component.is_empty() || component == "." {
            return refuse("has an empty part");
        }
        if component.len() > COMPONENT_BYTES {
            return refuse("has a part that is too long");
        }
        if component.contains(|c: char| c.is_control() || r#"<>:"\|?*"#.contains(c)) {
            return refuse("has a character that is not allowed everywhere");
        }
        if component.ends_with(['.', ' ']) || component.starts_with(' ') {
            return refuse("has a part that begins or ends with a blank or ends with a dot");
        }
        if is_device(component) {
            return refuse("names a device");
        }
    }
    Ok(())
}

fn is_device(component: &str) -> bool {
    let stem = component.split('.').next().unwrap_or(component).trim_end().to_lowercase();
    let numbered = |prefix: &str| {
        let number = stem.strip_prefix(prefix);
        number.is_some_and(|number| {
            matches!(number, "¹" | "²" | "³") || (number.len() == 1 && number.as_bytes()[0].is_ascii_digit())
        })
    };
    DEVICES.contains(&stem.as_str()) || numbered("com") || numbered("lpt")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_paths_pass() {
        for path in ["a.json", "timm/timm.layers.drop.DropPath.json", "a/b/c/d", "ünï/文.md", ".hidden", "common.json"]
        {
            assert_eq!(check_path(path), Ok(()), "{path}");
        }
    }

    #[test]
    fn paths_that_leave_the_folder_or_are_no_file_names_do_not() {
        let long = "a".repeat(300);
        let deep = "a/".repeat(600) + "a";
        let refused = [
            "",
            "/etc/passwd",
            "../a",
            "a/../../b",
            "a//b",
            "./a",
            "a/.",
            "a/",
            "C:\\a",
            "c:/a",
            "a\\..\\b",
            "a\0b",
            "a\nb",
            "nul",
            "NUL.txt",
            "a/com1.json",
            "lpt9",
            "a.",
            "a ",
            "a?b",
            "\\\\server\\share",
            &long,
            &deep,
        ];
        for path in refused {
            assert!(check_path(path).is_err(), "{path:?}");
        }
    }
}
