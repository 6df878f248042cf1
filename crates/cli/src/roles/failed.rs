//! Why a role does not start or does not go on: the words of all causes, the next step, the exit code.

use std::error::Error;

use mainspring_agent::Error as AgentError;
use mainspring_server::{Error as ServerError, IdentityError};

use crate::exit::Exit;
use crate::failure::Failure;

/// A failure in the words of an error and of all that caused it, on one line.
pub(crate) fn failed(error: impl Error) -> Failure {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    Failure::failed(text)
}

/// What to do about a data folder of no use.
pub(crate) const OTHER_DATA: &str = "name a directory that can be written, with --data or MAINSPRING_DATA";

/// The failure of a server.
pub(crate) fn server_failed(error: ServerError) -> Failure {
    let (exit, hint) = match &error {
        ServerError::Options(_) => (Exit::Usage, "`mainspring config list -o wide` shows every setting"),
        ServerError::Data { source: IdentityError::Taken, .. } => {
            (Exit::Failed, "stop it, or give this one a folder of its own, with --data or MAINSPRING_DATA")
        }
        ServerError::Data { .. } => (Exit::Failed, OTHER_DATA),
        ServerError::Store(_) => (
            Exit::Failed,
            "is the database there, and does --store or MAINSPRING_STORE name it? \
             `sqlite:FILE`, `postgres://USER@HOST/DATABASE` or `mysql://USER@HOST/DATABASE`",
        ),
        ServerError::Cells { .. } => (
            Exit::Usage,
            "the number of cells is fixed when the store is made; set server.cells (MAINSPRING_SERVER__CELLS) to the store's",
        ),
        ServerError::Tls(_) => {
            (Exit::Failed, "look at the settings server.tls_cert, server.tls_key and server.ca_file")
        }
        ServerError::Folder { .. } => {
            (Exit::Failed, "make the directory writable, or choose another with --data")
        }
        ServerError::Artifacts(_) => (Exit::Failed, "look at the setting server.artifacts"),
        ServerError::Logs(_) => (Exit::Failed, "look at the setting server.logs"),
        ServerError::Listen { .. } => (Exit::Failed, "`--listen 127.0.0.1:0` takes a port that is free"),
        ServerError::StoreTaken { .. } | ServerError::BrokenDown | ServerError::Serve(_) => {
            return failed(error);
        }
    };
    Failure { exit, ..failed(error) }.hint(hint)
}

/// The failure of an agent.
pub(crate) fn agent_failed(error: AgentError) -> Failure {
    let (exit, hint) = match &error {
        AgentError::Option { .. } => (Exit::Usage, "`mainspring config list -o wide` shows every setting"),
        AgentError::NotJoined => (
            Exit::Usage,
            "`mainspring node token` makes one, on a machine that is signed in; give it as MAINSPRING_JOIN_TOKEN",
        ),
        AgentError::JoinRefused(_) => {
            (Exit::Denied, "a token is good once and for an hour; `mainspring node token` makes another")
        }
        AgentError::Unfit(_) => (Exit::Usage, "its credential is kept, so that it needs no other token"),
        AgentError::File { .. } => (Exit::Failed, "name a directory that can be written, with --data"),
        AgentError::InUse(_) | AgentError::Sidecar(_) | AgentError::JournalLost => return failed(error),
    };
    Failure { exit, ..failed(error) }.hint(hint)
}
