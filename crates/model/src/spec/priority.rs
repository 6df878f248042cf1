//! Priority: the class of a run, then a level within the class.
//!
//! A run of a higher class always goes before one of a lower class; levels order runs of one class. The
//! greater priority is the more urgent one, so `Ord` can be used directly.

use serde::Serialize;
use utoipa::ToSchema;

/// How urgent a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Priority {
    /// The class.
    #[serde(skip_serializing_if = "PriorityClass::is_default")]
    pub class: PriorityClass,
    /// The level within the class: 0 to 100, higher first.
    #[schema(maximum = 100)]
    #[serde(skip_serializing_if = "is_default_level")]
    pub level: u8,
}

/// The classes, least urgent first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PriorityClass {
    /// Uses what nobody else wants.
    Spare,
    /// May wait minutes for better times: backups, reports.
    Deferrable,
    /// Ordinary work.
    #[default]
    Standard,
    /// What users of production are waiting for.
    Service,
}

impl Priority {
    /// The level of a job that names none.
    pub const LEVEL_DEFAULT: u8 = 50;
    /// The highest level.
    pub const LEVEL_MAX: u8 = 100;

    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for Priority {
    fn default() -> Self {
        Self { class: PriorityClass::default(), level: Self::LEVEL_DEFAULT }
    }
}

impl PriorityClass {
    /// Every class, least urgent first.
    pub const ALL: [Self; 4] = [Self::Spare, Self::Deferrable, Self::Standard, Self::Service];

    /// The class's word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spare => "spare",
            Self::Deferrable => "deferrable",
            Self::Standard => "standard",
            Self::Service => "service",
        }
    }

    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

fn is_default_level(level: &u8) -> bool {
    *level == Priority::LEVEL_DEFAULT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_comes_before_level() {
        let at = |class, level| Priority { class, level };
        assert!(at(PriorityClass::Service, 0) > at(PriorityClass::Standard, 100));
        assert!(at(PriorityClass::Standard, 51) > Priority::default());
        assert!(PriorityClass::ALL.is_sorted());
    }
}
