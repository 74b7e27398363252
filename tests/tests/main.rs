//! End-to-end tests, and oracles that compare NetQuarry with CPython.

mod oracles;
mod project;
mod python_sdk;
