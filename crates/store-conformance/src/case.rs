//! A case: a name and what to do with a fresh store, or with data that can be opened again.

use std::pin::Pin;
use std::sync::Arc;

use mainspring_store::Store;

use crate::harness::{Data, Harness};

/// What became of a case that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It holds.
    Passed,
    /// The harness does not offer what the case needs.
    NotOffered,
}

pub(crate) type Play = Pin<Box<dyn Future<Output = Verdict> + Send>>;

/// One case.
#[derive(Clone, Copy)]
pub struct Case {
    /// `theme::what_holds`.
    pub name: &'static str,
    pub(crate) body: Body,
}

#[derive(Clone, Copy)]
pub(crate) enum Body {
    Store(fn(Arc<dyn Store>) -> Play),
    Data(fn(Arc<dyn Data>) -> Play),
}

impl Case {
    /// Plays the case; it fails by panicking.
    pub async fn play(&self, harness: &dyn Harness) -> Verdict {
        match self.body {
            Body::Store(body) => body(harness.fresh().await).await,
            Body::Data(body) => match harness.data().await {
                Some(data) => body(data).await,
                None => Verdict::NotOffered,
            },
        }
    }
}

/// The cases of one file: `"theme": name, …` where `name` is an `async fn(Arc<dyn Store>)`, or
/// `name => function(argument, …)` for one function played with several arguments.
macro_rules! cases {
    ($theme:literal: $($name:ident $(=> $body:ident($($argument:expr),*))?),* $(,)?) => {
        pub(crate) const CASES: &[crate::case::Case] = &[$(
            crate::case::Case {
                name: concat!($theme, "::", stringify!($name)),
                body: crate::case::Body::Store(|store| Box::pin(async move {
                    crate::case::cases!(@call store, $name $(=> $body($($argument),*))?);
                    crate::case::Verdict::Passed
                })),
            }
        ),*];
    };
    (@call $store:ident, $name:ident) => { $name($store).await };
    (@call $store:ident, $name:ident => $body:ident($($argument:expr),*)) => {
        $body($store, $($argument),*).await
    };
}

/// Cases over data: each is an `async fn(Arc<dyn Data>) -> Verdict`.
macro_rules! data_cases {
    ($theme:literal: $($name:ident),* $(,)?) => {
        pub(crate) const CASES: &[crate::case::Case] = &[$(
            crate::case::Case {
                name: concat!($theme, "::", stringify!($name)),
                body: crate::case::Body::Data(|data| Box::pin($name(data))),
            }
        ),*];
    };
}

pub(crate) use {cases, data_cases};
