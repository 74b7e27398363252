//! Plain tables with aligned columns, for the terminal.

use anstyle::{AnsiColor, Style};

/// How a column is aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// A heading per column and rows of as many cells.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
    /// The last row is a sum and set apart.
    has_total: bool,
}

/// Of headings.
pub const HEADING: Style = AnsiColor::Cyan.on_default();
/// Of sums and of what matters most.
pub const STRONG: Style = Style::new().bold();
/// Of what stands beside something.
pub const FAINT: Style = Style::new().dimmed();

impl Table {
    /// A table without rows.
    pub fn new(columns: &[(&str, Align)]) -> Self {
        let columns = columns.iter().map(|(heading, align)| ((*heading).to_owned(), *align)).collect();
        Self { columns, rows: Vec::new(), has_total: false }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        assert_eq!(cells.len(), self.columns.len(), "a row has a cell per column");
        self.rows.push(cells);
    }

    /// Adds the last row, a sum.
    pub fn total(&mut self, cells: Vec<String>) {
        self.row(cells);
        self.has_total = true;
    }

    /// The table, indented by two, each line ended, without a column that no row has anything in. `style` answers with
    /// the style that the output can show.
    pub fn render(&self, style: impl Fn(Style) -> Style) -> String {
        let has_any = |column: usize| self.rows.is_empty() || self.rows.iter().any(|row| !row[column].is_empty());
        let widths: Vec<Option<usize>> =
            (0..self.columns.len()).map(|column| has_any(column).then(|| self.width(column))).collect();
        let headings: Vec<String> = self.columns.iter().map(|(heading, _)| heading.clone()).collect();
        let mut text = self.line(&headings, &widths, style(HEADING));
        for (index, row) in self.rows.iter().enumerate() {
            let is_total = self.has_total && index + 1 == self.rows.len();
            text.push_str(&self.line(row, &widths, if is_total { style(STRONG) } else { Style::new() }));
        }
        text
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().map(|row| row[column].chars().count());
        cells.chain([self.columns[column].0.chars().count()]).max().expect("there is a heading")
    }

    /// A column without a width is left out.
    fn line(&self, cells: &[String], widths: &[Option<usize>], style: Style) -> String {
        let cell = |((cell, width), (_, align)): ((&String, &Option<usize>), &(String, Align))| {
            width.map(|width| match align {
                Align::Left => format!("{cell:<width$}"),
                Align::Right => format!("{cell:>width$}"),
            })
        };
        let cells: Vec<String> = cells.iter().zip(widths).zip(&self.columns).filter_map(cell).collect();
        format!("  {style}{}{style:#}\n", cells.join("  ").trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(&[("category", Align::Left), ("blocks", Align::Right)]);
        table.row(vec!["attention".into(), "7".into()]);
        table.total(vec!["total".into(), "1,034".into()]);
        assert_eq!(table.render(|_| Style::new()), "  category   blocks\n  attention       7\n  total       1,034\n");
    }

    #[test]
    fn a_column_with_nothing_in_it_is_left_out() {
        let mut table = Table::new(&[("block", Align::Left), ("why", Align::Left), ("lines", Align::Right)]);
        table.row(vec!["a".into(), String::new(), "7".into()]);
        assert_eq!(table.render(|_| Style::new()), "  block  lines\n  a          7\n");
        table.row(vec!["b".into(), "x".into(), String::new()]);
        assert_eq!(table.render(|_| Style::new()), "  block  why  lines\n  a               7\n  b      x\n");
    }
}
