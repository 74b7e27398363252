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

/// The columns of a table, as wide as the widest of the cells that were measured.
#[derive(Clone, Debug)]
pub struct Columns {
    columns: Vec<Column>,
    is_empty: bool,
}

#[derive(Clone, Debug)]
struct Column {
    heading: String,
    align: Align,
    width: usize,
    /// Some cell has something in it.
    is_used: bool,
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
        let named: Vec<(&str, Align)> = self.columns.iter().map(|(heading, align)| (&**heading, *align)).collect();
        let mut columns = Columns::new(&named);
        self.rows.iter().for_each(|row| columns.measure(row));
        let mut text = columns.heading(style(HEADING));
        for (index, row) in self.rows.iter().enumerate() {
            let is_total = self.has_total && index + 1 == self.rows.len();
            text.push_str(&columns.line(row, if is_total { style(STRONG) } else { Style::new() }));
        }
        text
    }
}

impl Columns {
    /// As wide as their headings.
    pub fn new(columns: &[(&str, Align)]) -> Self {
        let column = |(heading, align): &(&str, Align)| Column {
            heading: (*heading).to_owned(),
            align: *align,
            width: heading.chars().count(),
            is_used: false,
        };
        Self { columns: columns.iter().map(column).collect(), is_empty: true }
    }

    /// Makes room for a row.
    pub fn measure(&mut self, cells: &[String]) {
        self.is_empty = false;
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.width = column.width.max(cell.chars().count());
            column.is_used |= !cell.is_empty();
        }
    }

    /// Whether no row was measured.
    pub fn is_empty(&self) -> bool {
        self.is_empty
    }

    pub fn heading(&self, style: Style) -> String {
        let headings: Vec<String> = self.columns.iter().map(|column| column.heading.clone()).collect();
        self.line(&headings, style)
    }

    /// A row, indented by two, its line ended, without the cells of columns that no row has anything in.
    pub fn line(&self, cells: &[String], style: Style) -> String {
        let cell = |(cell, column): (&String, &Column)| {
            let width = column.width;
            (self.is_empty || column.is_used).then(|| match column.align {
                Align::Left => format!("{cell:<width$}"),
                Align::Right => format!("{cell:>width$}"),
            })
        };
        let cells: Vec<String> = cells.iter().zip(&self.columns).filter_map(cell).collect();
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
