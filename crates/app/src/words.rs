//! A sentence in English and in Chinese, made in one place so that neither is forgotten.

use std::fmt::Display;

/// The same in both languages.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Words {
    pub(crate) en: String,
    pub(crate) zh: String,
}

impl Words {
    pub(crate) fn new(en: impl Display, zh: impl Display) -> Self {
        Self { en: en.to_string(), zh: zh.to_string() }
    }
}
