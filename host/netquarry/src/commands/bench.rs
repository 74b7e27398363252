//! `netquarry bench`

use super::Ending;
use crate::arguments::BenchArguments;
use crate::configuration::Settings;
use crate::console::Console;
use crate::problem::Problem;

pub(super) fn bench(_: &BenchArguments, _: &Settings, _: &Console) -> Result<Ending, Problem> {
    Err(Problem::new("not yet"))
}
