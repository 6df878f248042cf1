//! The closed list of errors that callers see: snake_case on the wire, with who is to blame and whether
//! trying again can help. Status codes live at the edge; internal causes live in the log.

use std::fmt;

/// Who can mend it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// The caller: the request itself is wrong or comes at the wrong time.
    Caller,
    /// The program.
    Us,
    /// Something that the program needs: a store, the network.
    Dependency,
}

/// Whether trying again can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// The same request gives the same answer.
    Never,
    /// Read the thing again, decide anew, then ask.
    AfterRefresh,
    /// The same request may succeed later; use an idempotency key.
    Later,
}

macro_rules! error_codes {
    ($($variant:ident, $name:literal, $blame:ident, $retry:ident, $help:literal;)*) => {
        /// What went wrong, for programs.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorCode { $(#[doc = $help] $variant,)* }

        impl ErrorCode {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The code on the wire.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
            /// Who can mend it.
            pub const fn blame(self) -> Blame {
                match self { $(Self::$variant => Blame::$blame,)* }
            }
            /// Whether trying again can help.
            pub const fn retry(self) -> Retry {
                match self { $(Self::$variant => Retry::$retry,)* }
            }
            /// One sentence for people: what it means and the next step.
            pub const fn help(self) -> &'static str {
                match self { $(Self::$variant => $help,)* }
            }
        }
    };
}

error_codes! {
    InvalidSpec, "invalid_spec", Caller, Never, "The job's specification has problems; each is listed with its path and a hint.";
    InvalidParameter, "invalid_parameter", Caller, Never, "A parameter is missing, unknown or of the wrong type; compare with the job's `parameters`.";
    InvalidTemplate, "invalid_template", Caller, Never, "A key template could not be rendered with these parameters; check the names it uses.";
    InvalidRequest, "invalid_request", Caller, Never, "The request cannot be read; each problem is listed with the field it is about.";
    InvalidQuery, "invalid_query", Caller, Never, "The query `q` cannot be read; the message names the position and what is expected there.";
    Unauthenticated, "unauthenticated", Caller, Never, "No valid credential came with the request; send `Authorization: Bearer ms_…`, or sign in again.";
    Forbidden, "forbidden", Caller, Never, "Your role does not allow this here; the message names the role that does.";
    TooLarge, "too_large", Caller, Never, "A value exceeds its limit; the message names the field and the limit.";
    NotFound, "not_found", Caller, Never, "There is no such thing, or you may not see it.";
    AlreadyExists, "already_exists", Caller, Never, "The name is taken; choose another or replace the existing one.";
    Conflict, "conflict", Caller, AfterRefresh, "It changed since you read it; read it again and repeat the change.";
    IllegalState, "illegal_state", Caller, AfterRefresh, "The run's state does not allow this; look at the run first.";
    Inactive, "inactive", Caller, AfterRefresh, "The trigger takes no calls now: it or its job is paused, or its time or its count is over; the message says which.";
    PreconditionFailed, "precondition_failed", Caller, AfterRefresh, "`If-Match` or `If-None-Match` does not fit what is there now; read it again and repeat the change.";
    IdempotencyMismatch, "idempotency_mismatch", Caller, Never, "The idempotency key was used for another request; use a new key for a new run.";
    MethodNotAllowed, "method_not_allowed", Caller, Never, "The path exists but not with this method; `Allow` lists those it has.";
    UnsupportedMediaType, "unsupported_media_type", Caller, Never, "The body's content type is not read here; the message names those that are.";
    RateLimited, "rate_limited", Caller, Later, "Too many requests of this kind; wait as long as `Retry-After` says.";
    StaleToken, "stale_token", Caller, Never, "Another attempt has taken over; stop working and drop the result.";
    NotOwner, "not_owner", Dependency, Later, "Nobody who owns the cell is reached at the moment, and nothing was done; try again.";
    QueueFull, "queue_full", Dependency, Later, "The scheduler takes no more for now; wait and try again.";
    StoreUnavailable, "store_unavailable", Dependency, Later, "The store, or who owns the cell, does not answer: it may be done or not; look, or try again with the same idempotency key.";
    Internal, "internal", Us, Later, "A defect in the scheduler; the log has the details under the request's id.";
}

impl ErrorCode {
    /// The code with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.name() == name)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_one_name_and_help() {
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::parse(code.name()), Some(*code));
            assert!(code.name().bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{code}");
            assert!(code.help().ends_with('.'), "{code}");
        }
    }
}
