//! The category of a block.

use netquarry_sdk::discovery::{Category, ClassDescription};

/// The category of a class and what put it there, as the end of a sentence.
pub fn categorise(class: &ClassDescription) -> (Category, String) {
    (Category::Utility, format!("`{}` shows no sign of another category", class.name))
}
