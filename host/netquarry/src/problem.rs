//! Errors as a person should read them: what happened, where, and what to do.
//!
//! Libraries answer with errors of their own; [`crate::hints`] turns each into a [`Problem`]. Nothing else in the
//! program prints errors.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::Path;

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode};
use textwrap::{WordSeparator, WordSplitter};

/// Why a command could not do what it was asked.
#[derive(Debug)]
pub struct Problem {
    what: String,
    cause: Option<Box<dyn Error + Send + Sync>>,
    help: Option<String>,
    place: Option<Box<Place>>,
    status: u8,
}

/// The exit status where a command could not do what it was asked.
const FAILED: u8 = 2;
/// The exit status of a program that was ended by an interrupt, as shells have it.
pub const INTERRUPTED: u8 = 130;

/// A place in a file that the user wrote.
#[derive(Debug)]
struct Place {
    text: NamedSource<String>,
    label: LabeledSpan,
}

impl Problem {
    /// `what` is a whole sentence without its full stop, and starts with a capital letter or a quoted name.
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), cause: None, help: None, place: None, status: FAILED }
    }

    /// What is behind it.
    #[must_use]
    pub fn because(self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { cause: Some(cause.into()), ..self }
    }

    /// What the user can do about it.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// Points at `range` (bytes) of a file's text; a range that lies outside is moved to the end of the text.
    #[must_use]
    pub fn at(self, path: &Path, text: &str, range: std::ops::Range<usize>, label: impl Into<String>) -> Self {
        let start = range.start.min(text.len());
        let end = range.end.clamp(start, text.len());
        let label = LabeledSpan::new(Some(label.into()), start, end - start);
        let text = NamedSource::new(path.display().to_string(), text.to_owned());
        Self { place: Some(Box::new(Place { text, label })), ..self }
    }

    /// Something with a file or folder did not work: `action` completes "Could not ...".
    pub fn io(action: &str, path: &Path, error: io::Error) -> Self {
        let help = help_about(error.kind());
        let problem = Self::new(format!("Could not {action} `{}`", path.display())).because(error);
        match help {
            Some(help) => problem.help(help),
            None => problem,
        }
    }

    /// The user asked to stop.
    pub fn interrupted() -> Self {
        Self { status: INTERRUPTED, ..Self::new("Stopped") }
            .help("what was finished is kept: the same command goes on where this one stopped")
    }

    /// With which the program ends because of it.
    pub fn exit_status(&self) -> u8 {
        self.status
    }

    /// What the user can do about it, where that is known.
    pub fn help_text(&self) -> Option<&str> {
        self.help.as_deref()
    }
}

/// What to do about an error of the operating system, where that can be told from its kind.
fn help_about(kind: io::ErrorKind) -> Option<&'static str> {
    match kind {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Some(
            "make room, or choose other places with --out and --cache-dir, and give the same command again: what was \
             finished is kept",
        ),
        io::ErrorKind::PermissionDenied => Some("choose a place that you may write to, with --out or --cache-dir"),
        io::ErrorKind::ReadOnlyFilesystem => Some("choose another place with --out and --cache-dir"),
        _ => None,
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.what)
    }
}

impl Error for Problem {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_ref().map(|cause| &**cause as &(dyn Error + 'static))
    }
}

impl Diagnostic for Problem {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.place.as_ref().map(|place| &place.text as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.place.as_ref().map(|place| Box::new(std::iter::once(place.label.clone())) as Box<dyn Iterator<Item = _>>)
    }
}

/// Columns for the lines of a file that is pointed into, where nothing else limits them.
const UNWRAPPED_CODE: usize = 100;

/// The text that is shown for `problem`, with its causes, place and help. Lines end between words only, so that names and
/// paths can be copied; without a `width` they are as long as they come.
pub fn render(problem: &Problem, color: bool, width: Option<usize>) -> String {
    let theme = if color { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let mut text = String::new();
    GraphicalReportHandler::new_themed(theme)
        .with_width(width.unwrap_or(UNWRAPPED_CODE))
        .with_wrap_lines(width.is_some())
        .with_break_words(false)
        .with_word_separator(WordSeparator::AsciiSpace)
        .with_word_splitter(WordSplitter::NoHyphenation)
        .with_links(false)
        .render_report(&mut text, problem)
        .expect("a String takes everything");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_says_what_where_and_what_to_do() {
        let text = "corpus = \"quickstart\"\ngate = \"exceute\"\n";
        let problem = Problem::new("`netquarry.toml` has a gate that there is not")
            .because(io::Error::other("unknown level `exceute`"))
            .at(Path::new("netquarry.toml"), text, 29..38, "here")
            .help("the levels are parse, compile, execute, construct, forward, backward and parity");
        insta::assert_snapshot!(render(&problem, false, Some(100)));
    }

    #[test]
    fn lines_end_between_words_only() {
        let path = "/a-folder-with-a-name/that-is/rather-longer/than-the-terminal/is-wide";
        let problem = Problem::new(format!("Could not read `{path}`"));
        assert!(render(&problem, false, Some(40)).contains(path));
        let sentence = "a sentence that is longer than a terminal of forty columns";
        assert!(!render(&Problem::new(sentence), false, Some(40)).contains(sentence));
        assert!(render(&Problem::new(sentence), false, None).contains(sentence));
    }

    #[test]
    fn a_full_disk_comes_with_advice() {
        let problem = Problem::io("write", Path::new("out/manifest.jsonl"), io::ErrorKind::StorageFull.into());
        assert_eq!(problem.to_string(), "Could not write `out/manifest.jsonl`");
        assert!(problem.help_text().expect("there is advice").contains("--cache-dir"));
    }
}
