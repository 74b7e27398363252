//! Which package index pip is configured with, read the way pip reads it: environment variables over configuration files,
//! the user's file over the machine's. pip itself does not run.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::{Certificate, Url};

use crate::failure::{FetchFailure, causes};
use crate::ini;

const DEFAULT_INDEX: &str = "https://pypi.org/simple";
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// Where to look for distributions and how to get there.
#[derive(Clone, Debug)]
pub struct IndexConfiguration {
    /// Simple-API indexes in the order in which they are asked, each ending in `/`.
    pub indexes: Vec<Url>,
    /// Folders that hold wheels and sdists; asked before the indexes.
    pub find_links: Vec<PathBuf>,
    /// PEM files with certificates to trust besides the system's.
    pub certificates: Vec<PathBuf>,
    /// A proxy for everything; else the environment's `HTTPS_PROXY` and its like count.
    pub proxy: Option<String>,
    /// For connecting, and for every read by itself.
    pub timeout: Duration,
}

impl IndexConfiguration {
    /// Exactly one index and nothing else, as for a test server.
    pub fn single(index: Url) -> Self {
        let timeout = DEFAULT_TIMEOUT;
        let indexes = vec![with_final_slash(index)];
        Self { indexes, find_links: Vec::new(), certificates: Vec::new(), proxy: None, timeout }
    }

    /// The certificates themselves.
    pub(crate) fn trusted(&self) -> Result<Vec<Certificate>, FetchFailure> {
        let mut certificates = Vec::new();
        for path in &self.certificates {
            certificates.extend(certificates_of(path)?);
        }
        Ok(certificates)
    }

    /// What pip would use, given the environment `variable` looks names up in.
    ///
    /// # Errors
    /// If a configuration file cannot be read, or a URL or a time span in it is none.
    pub fn of_pip(variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, FetchFailure> {
        let settings = Settings::gather(variable)?;
        let mut indexes = Vec::new();
        if !settings.is_true("no-index") {
            let main = settings.list("index-url");
            indexes.extend(main.first().map(String::as_str).or(Some(DEFAULT_INDEX)).map(str::to_owned));
            indexes.extend(settings.list("extra-index-url"));
        }
        let indexes = indexes.iter().map(|text| index_url(text, &settings)).collect::<Result<_, _>>()?;
        let bundles = ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"];
        let certificates = settings.list("cert").into_iter().chain(bundles.iter().filter_map(|name| variable(name)));
        let mut certificates: Vec<_> = certificates.filter(|path| !path.is_empty()).map(PathBuf::from).collect();
        certificates.sort();
        certificates.dedup();
        Ok(Self {
            indexes,
            find_links: settings.list("find-links").iter().filter_map(|link| local_folder(link)).collect(),
            certificates,
            proxy: settings.list("proxy").first().cloned(),
            timeout: settings.timeout()?.unwrap_or(DEFAULT_TIMEOUT),
        })
    }
}

/// The certificates of a PEM file; none of a folder, as some of the variables may name one.
pub(crate) fn certificates_of(path: &Path) -> Result<Vec<Certificate>, FetchFailure> {
    if path.is_dir() {
        return Ok(Vec::new());
    }
    let failure = |why: String| FetchFailure::Certificates { path: path.to_path_buf(), why };
    let bundle = std::fs::read(path).map_err(|error| failure(error.to_string()))?;
    let certificates = Certificate::from_pem_bundle(&bundle).map_err(|error| failure(causes(&error)))?;
    if certificates.is_empty() {
        return Err(failure("it holds none".to_owned()));
    }
    Ok(certificates)
}

/// Options of pip by name, without leading dashes, and where the last one to speak stands.
struct Settings {
    values: BTreeMap<String, String>,
    origins: BTreeMap<String, String>,
}

impl Settings {
    fn gather(variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, FetchFailure> {
        let mut settings = Self { values: BTreeMap::new(), origins: BTreeMap::new() };
        let named = variable("PIP_CONFIG_FILE").map(PathBuf::from);
        for file in configuration_files(variable) {
            let text = match std::fs::read_to_string(&file) {
                Ok(text) => text,
                Err(error) if is_absent(&error) => continue,
                // pip takes no notice either of files of the machine that this user may not read.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied && named.as_ref() != Some(&file) => {
                    continue;
                }
                Err(error) => {
                    let (file, why) = (file.display().to_string(), format!("it cannot be read: {error}"));
                    return Err(FetchFailure::PipConfiguration { file, why });
                }
            };
            let sections = ini::parse(&text);
            for section in ["global", "download", "install"] {
                for (name, value) in sections.get(section).into_iter().flatten() {
                    settings.set(&name.replace('_', "-"), value, &file.display().to_string());
                }
            }
        }
        for name in
            ["index-url", "extra-index-url", "no-index", "find-links", "cert", "proxy", "timeout", "default-timeout"]
        {
            let environment = format!("PIP_{}", name.replace('-', "_").to_uppercase());
            if let Some(value) = variable(&environment).filter(|value| !value.is_empty()) {
                settings.set(name, &value, &environment);
            }
        }
        Ok(settings)
    }

    fn set(&mut self, name: &str, value: &str, origin: &str) {
        self.values.insert(name.to_owned(), value.to_owned());
        self.origins.insert(name.to_owned(), origin.to_owned());
    }

    /// Values that pip lets one give several of are separated by white space.
    fn list(&self, name: &str) -> Vec<String> {
        self.values.get(name).map(|value| value.split_whitespace().map(str::to_owned).collect()).unwrap_or_default()
    }

    /// In seconds, at least one: a shorter one would end every transfer.
    fn timeout(&self) -> Result<Option<Duration>, FetchFailure> {
        let stated = ["timeout", "default-timeout"].into_iter().find(|name| !self.list(name).is_empty());
        let Some(name) = stated else { return Ok(None) };
        let text = self.values[name].trim();
        match text.parse::<f64>().ok().filter(|seconds| (1.0..86_400.0).contains(seconds)) {
            Some(seconds) => Ok(Some(Duration::from_secs_f64(seconds))),
            None => Err(FetchFailure::PipConfiguration {
                file: self.origins[name].clone(),
                why: format!("the timeout `{text}` is no number of seconds from 1 to a day"),
            }),
        }
    }

    fn is_true(&self, name: &str) -> bool {
        let value = self.values.get(name).map(|value| value.trim().to_lowercase());
        value.is_some_and(|value| matches!(value.as_str(), "1" | "true" | "yes" | "on" | "t" | "y"))
    }
}

/// Whether there is no such file. pip looks for it in places that may not be folders at all.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// In the order in which pip reads them; a later one wins.
fn configuration_files(variable: &dyn Fn(&str) -> Option<String>) -> Vec<PathBuf> {
    let chosen = variable("PIP_CONFIG_FILE").filter(|path| !path.is_empty());
    if chosen.as_deref().is_some_and(|path| path == "/dev/null" || path.eq_ignore_ascii_case("nul")) {
        return Vec::new();
    }
    let mut files = Vec::new();
    let machine = variable("XDG_CONFIG_DIRS").filter(|folders| !folders.is_empty()).unwrap_or("/etc/xdg".to_owned());
    files.extend(machine.split(':').map(|folder| Path::new(folder).join("pip/pip.conf")));
    files.push(PathBuf::from("/etc/pip.conf"));
    if let Some(home) = variable("HOME").or_else(|| variable("USERPROFILE")).map(PathBuf::from) {
        files.push(home.join(".pip/pip.conf"));
        let user = variable("XDG_CONFIG_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
        files.push(user.unwrap_or_else(|| home.join(".config")).join("pip/pip.conf"));
        files.push(home.join("Library/Application Support/pip/pip.conf"));
    }
    files.extend(variable("APPDATA").map(|folder| Path::new(&folder).join("pip/pip.ini")));
    files.extend(variable("VIRTUAL_ENV").map(|folder| Path::new(&folder).join("pip.conf")));
    files.extend(chosen.map(PathBuf::from));
    files
}

fn index_url(text: &str, settings: &Settings) -> Result<Url, FetchFailure> {
    let origin = || {
        let from =
            ["index-url", "extra-index-url"].into_iter().find(|name| settings.list(name).iter().any(|url| url == text));
        from.and_then(|name| settings.origins.get(name)).cloned().unwrap_or("pip's configuration".to_owned())
    };
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(with_final_slash(url)),
        Ok(_) | Err(_) => Err(FetchFailure::PipConfiguration {
            file: origin(),
            why: "the index URL is no http:// or https:// URL".to_owned(),
        }),
    }
}

/// Relative links on the page of an index start at its last slash.
fn with_final_slash(mut url: Url) -> Url {
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    url
}

fn local_folder(link: &str) -> Option<PathBuf> {
    if link.contains("://") { Url::parse(link).ok()?.to_file_path().ok() } else { Some(PathBuf::from(link)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Result<IndexConfiguration, FetchFailure> {
        let variables: BTreeMap<_, _> = variables.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        IndexConfiguration::of_pip(&|name| variables.get(name).cloned())
    }

    fn urls(configuration: &IndexConfiguration) -> Vec<&str> {
        configuration.indexes.iter().map(Url::as_str).collect()
    }

    #[test]
    fn variables_win_over_files_and_the_user_over_the_machine() {
        let folder = tempfile::tempdir().unwrap();
        let machine = folder.path().join("machine/pip");
        let user = folder.path().join("home/.config/pip");
        std::fs::create_dir_all(&machine).unwrap();
        std::fs::create_dir_all(&user).unwrap();
        // Whatever the machine that runs this test has in /etc/pip.conf is overruled.
        let user_text = "[global]\nindex_url = https://u/simple/\ncert=/u.pem\ntimeout=7\n[install]\nfind-links=/w\n";
        std::fs::write(machine.join("pip.conf"), "[global]\nindex-url=https://m/simple\ncert=/m.pem\n").unwrap();
        std::fs::write(user.join("pip.conf"), user_text).unwrap();
        let (machines, home) = (folder.path().join("machine"), folder.path().join("home"));
        let files = [("XDG_CONFIG_DIRS", machines.to_str().unwrap()), ("HOME", home.to_str().unwrap())];
        let configuration = of(&files).unwrap();
        assert_eq!(urls(&configuration), ["https://u/simple/"]);
        assert_eq!(configuration.certificates, [PathBuf::from("/u.pem")]);
        assert_eq!(configuration.find_links, [PathBuf::from("/w")]);
        assert_eq!(configuration.timeout, Duration::from_secs(7));
        let environment =
            [files[0], files[1], ("PIP_INDEX_URL", "http://e"), ("PIP_EXTRA_INDEX_URL", "http://x http://y/")];
        assert_eq!(urls(&of(&environment).unwrap()), ["http://e/", "http://x/", "http://y/"]);
        let none = [files[0], files[1], ("PIP_CONFIG_FILE", "/dev/null"), ("PIP_NO_INDEX", "1")];
        assert!(urls(&of(&none).unwrap()).is_empty());
    }

    #[test]
    fn a_file_that_cannot_be_read_is_not_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pip.conf");
        std::fs::write(&path, b"[global]\nindex-url = https://\xff/simple\n").unwrap();
        let failure = of(&[("PIP_CONFIG_FILE", path.to_str().unwrap())]).unwrap_err();
        assert!(failure.to_string().starts_with(&format!("{}: it cannot be read", path.display())), "{failure}");
        let nowhere = folder.path().join("nowhere/pip.conf");
        of(&[("PIP_CONFIG_FILE", nowhere.to_str().unwrap())]).expect("a file that is not there says nothing");
    }

    #[test]
    fn a_bad_timeout_names_its_place() {
        let failure = of(&[("PIP_CONFIG_FILE", "/dev/null"), ("PIP_TIMEOUT", "soon")]).unwrap_err();
        assert_eq!(failure.to_string(), "PIP_TIMEOUT: the timeout `soon` is no number of seconds from 1 to a day");
    }

    #[test]
    fn a_bad_index_names_its_place() {
        let failure = of(&[("PIP_CONFIG_FILE", "/dev/null"), ("PIP_INDEX_URL", "pypi.org/simple")]).unwrap_err();
        assert_eq!(failure.to_string(), "PIP_INDEX_URL: the index URL is no http:// or https:// URL");
    }
}
