//! Where the program speaks: data on standard output, progress and notes on standard error.

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anstyle::{AnsiColor, Style};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::problem::{self, Problem};
use crate::quantity::human_count;

/// The form of the data on standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Human,
    /// One JSON document.
    Json,
}

/// When colours are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ColorChoice {
    /// Where a terminal shows it and `NO_COLOR` is not set.
    #[default]
    Auto,
    Always,
    Never,
}

/// How much is said on standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Errors only.
    Quiet,
    Normal,
}

/// The two streams, and what they can show.
#[derive(Clone, Debug)]
pub struct Console {
    pub format: Format,
    pub verbosity: Verbosity,
    color_out: bool,
    color_err: bool,
    bars: MultiProgress,
    interactive: bool,
}

const VERB: Style = AnsiColor::Green.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
/// Verbs of status lines end in this column.
const VERB_WIDTH: usize = 12;

impl Console {
    /// The console of a process, with colours and bars as far as its streams can show them.
    pub fn new(format: Format, verbosity: Verbosity, color: ColorChoice) -> Self {
        let colored = |terminal: bool| match color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
        };
        let interactive = io::stderr().is_terminal() && verbosity > Verbosity::Quiet;
        let target = if interactive { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        Self {
            format,
            verbosity,
            color_out: colored(io::stdout().is_terminal()),
            color_err: colored(io::stderr().is_terminal()),
            bars: MultiProgress::with_draw_target(target),
            interactive,
        }
    }

    /// Writes data to standard output. Whoever closed the pipe has read enough: that is no error.
    pub fn print(&self, text: &str) -> Result<(), Problem> {
        self.print_written(|out| out.write_all(text.as_bytes()))
    }

    /// Writes to standard output what `write` does, which need not be in memory.
    pub fn print_written(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Problem> {
        self.bars.suspend(|| {
            let mut out = io::BufWriter::new(io::stdout().lock());
            match write(&mut out).and_then(|()| out.flush()) {
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                    Err(Problem::new("Could not write to standard output").because(error))
                }
                _ => Ok(()),
            }
        })
    }

    /// Writes a value to standard output as one indented JSON document.
    pub fn print_json(&self, value: &impl serde::Serialize) -> Result<(), Problem> {
        let text = serde_json::to_string_pretty(value).expect("the program's own values have string keys");
        self.print(&(text + "\n"))
    }

    /// A line of what was done: `   Indexed 623 files`.
    pub fn status(&self, verb: &str, rest: &str) {
        if self.verbosity > Verbosity::Quiet {
            self.line(VERB, verb, rest);
        }
    }

    /// Something that went wrong and does not end the run.
    pub fn warn(&self, problem: &Problem) {
        if self.verbosity > Verbosity::Quiet {
            self.to_stderr(&problem::render(problem, self.color_err, self.width()));
        }
    }

    /// One line about something to know that needs no more than a line.
    pub fn caution(&self, text: &str) {
        if self.verbosity > Verbosity::Quiet {
            self.line(WARNING, "Warning", text);
        }
    }

    /// Why the command ends.
    pub fn error(&self, problem: &Problem) {
        self.to_stderr(&problem::render(problem, self.color_err, self.width()));
    }

    /// Starts showing a task of `total` steps; it stays visible until it is dropped or finished.
    pub fn task(&self, verb: &'static str, unit: &'static str, total: u64) -> Task<'_> {
        let bar = self.shown(ProgressBar::new(total));
        let template = format!(
            "{{prefix:>{VERB_WIDTH}.green.bold}} {{bar:30.cyan/dim}} {{human_pos}}/{{human_len}} {unit}, {{eta}} left  {{wide_msg:.dim}}"
        );
        bar.set_style(
            ProgressStyle::with_template(&template).expect("the template is a constant").progress_chars("━╸─"),
        );
        bar.set_prefix(verb);
        if self.interactive {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        Task { console: self, bar, verb, unit: Some(unit), told: Mutex::new(Instant::now()) }
    }

    /// Starts showing a task of which nobody knows how many steps it has.
    pub fn spinner(&self, verb: &'static str) -> Task<'_> {
        let bar = self.shown(ProgressBar::new_spinner());
        let template = format!("{{prefix:>{VERB_WIDTH}.green.bold}} {{spinner}} {{wide_msg}}");
        bar.set_style(ProgressStyle::with_template(&template).expect("the template is a constant"));
        bar.set_prefix(verb);
        if self.interactive {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        Task { console: self, bar, verb, unit: None, told: Mutex::new(Instant::now()) }
    }

    /// The style where standard output shows colours, plain otherwise.
    pub fn out_style(&self, style: Style) -> Style {
        if self.color_out { style } else { Style::new() }
    }

    /// Where log lines go; they do not tear progress bars.
    pub fn log_writer(&self) -> LogWriter {
        LogWriter { bars: self.bars.clone() }
    }

    /// Whether standard error shows colours.
    pub fn colors_stderr(&self) -> bool {
        self.color_err
    }

    /// Columns of the terminal that standard error is.
    pub fn width(&self) -> Option<usize> {
        columns(terminal_size::terminal_size_of(io::stderr()))
    }

    /// Columns of the terminal that standard output is.
    pub fn out_width(&self) -> Option<usize> {
        columns(terminal_size::terminal_size_of(io::stdout()))
    }

    fn shown(&self, bar: ProgressBar) -> ProgressBar {
        if self.interactive {
            return self.bars.add(bar);
        }
        bar.set_draw_target(ProgressDrawTarget::hidden());
        bar
    }

    fn line(&self, style: Style, verb: &str, rest: &str) {
        let style = if self.color_err { style } else { Style::new() };
        self.to_stderr(&format!("{style}{verb:>VERB_WIDTH$}{style:#} {rest}\n"));
    }

    fn to_stderr(&self, text: &str) {
        self.bars.suspend(|| {
            // Nobody is left to tell when standard error itself is closed.
            let _ = io::stderr().lock().write_all(text.as_bytes());
        });
    }
}

fn columns(size: Option<(terminal_size::Width, terminal_size::Height)>) -> Option<usize> {
    size.map(|(width, _)| usize::from(width.0).clamp(60, 140))
}

/// A running task on the screen.
#[derive(Debug)]
pub struct Task<'console> {
    console: &'console Console,
    bar: ProgressBar,
    verb: &'static str,
    /// Of its steps, where they can be counted.
    unit: Option<&'static str>,
    /// When a line was last said where no bar is seen.
    told: Mutex<Instant>,
}

/// How long a task is silent where no bar is seen.
const SILENCE: Duration = Duration::from_secs(30);

impl Task<'_> {
    /// So many more steps are done.
    pub fn advance(&self, steps: u64) {
        self.bar.inc(steps);
        self.remind();
    }

    /// There are so many more steps than was thought.
    pub fn extend(&self, steps: u64) {
        self.bar.inc_length(steps);
    }

    /// What is being worked on.
    pub fn message(&self, text: impl Into<String>) {
        self.bar.set_message(text.into());
        self.remind();
    }

    /// Says how far the task is, where no bar shows it and nothing was said for a while.
    pub fn remind(&self) {
        if self.console.interactive || !self.is_due() {
            return;
        }
        let steps = self.unit.map(|unit| {
            let count = |number: u64| human_count(usize::try_from(number).unwrap_or(usize::MAX));
            format!("{} of {} {unit}", count(self.bar.position()), count(self.bar.length().unwrap_or(0)))
        });
        let message = Some(self.bar.message()).filter(|message| !message.is_empty());
        let parts: Vec<String> = steps.into_iter().chain(message).collect();
        self.console.status(self.verb, &format!("{} ...", parts.join(", ")));
    }

    fn is_due(&self) -> bool {
        let mut told = self.told.lock().expect("nobody panics while holding it");
        let is_due = told.elapsed() >= SILENCE;
        if is_due {
            *told = Instant::now();
        }
        is_due
    }

    /// Takes the bar away and leaves one line behind.
    pub fn finish(self, verb: &str, rest: &str) {
        self.bar.finish_and_clear();
        self.console.status(verb, rest);
    }
}

impl Drop for Task<'_> {
    fn drop(&mut self) {
        if !self.bar.is_finished() {
            self.bar.finish_and_clear();
        }
    }
}

/// Writes whole buffers to standard error, between two drawings of the progress bars.
#[derive(Clone, Debug)]
pub struct LogWriter {
    bars: MultiProgress,
}

impl Write for LogWriter {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.bars.suspend(|| io::stderr().lock().write(buffer))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
