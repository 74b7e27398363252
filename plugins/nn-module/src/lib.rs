//! What the discovery rules know about classes of PyTorch: which ones are modules, which are abstract, and the category
//! of each.

pub mod ancestry;
pub mod category;
pub mod words;

#[cfg(test)]
mod testing;
