//! Writing a plugin: the files to start from, the component that is built of them, and its trial.

pub mod build;
pub mod cases;
mod componentize;
pub mod project;
pub mod review;
pub mod scaffold;
mod sdk;
mod stamp;
pub mod trial;
