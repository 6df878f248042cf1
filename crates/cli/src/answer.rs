//! What the server's refusal, or its silence, means to the person at the terminal: the words, the next step, the exit code.

use mainspring_client::api::{FieldProblem, Problem};
use mainspring_client::{Error, TransportError};
use mainspring_model::ErrorCode;

use crate::exit::Exit;
use crate::failure::Failure;

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Api(problem) => refused(&problem),
            Error::Unreachable { url, source } if speaks_no_tls(&source) => {
                Self::new(Exit::Unavailable, format!("{url} does not speak TLS")).hint(format!(
                    "if it is a server without a certificate, name it by http://: {}",
                    url.replacen("https://", "http://", 1)
                ))
            }
            Error::Unreachable { url, source } => {
                Self::new(Exit::Unavailable, format!("cannot reach {url}: {}", innermost(&source))).hint(
                    "start a server here with `mainspring up`, or name one with --url or MAINSPRING_URL",
                )
            }
            Error::Broken(source) if source.is_timeout() => {
                Self::new(Exit::Unavailable, "the server took too long to answer")
                    .hint("try again; `mainspring doctor` looks for what is wrong")
            }
            Error::Broken(source) => {
                Self::new(Exit::Unavailable, format!("the connection broke: {}", innermost(&source)))
                    .hint("try again; submissions are never doubled by that")
            }
            Error::Silent => Self::new(Exit::Unavailable, error.to_string()).hint("try again"),
            Error::Unreadable(_) => Self::failed(error.to_string())
                .hint("is this a Mainspring server, and of this version? `mainspring --version` tells ours"),
            Error::Setup(_) => Self::usage(error.to_string())
                .hint("a server is named by its whole URL, such as http://127.0.0.1:7468"),
            Error::Io(error) => error.into(),
        }
    }
}

fn refused(problem: &Problem) -> Failure {
    let code = ErrorCode::parse(&problem.code);
    let exit = code.map_or(Exit::Failed, Exit::of_code);
    let detail = if problem.detail.is_empty() { &problem.title } else { &problem.detail };
    let message = match problem.errors.as_slice() {
        // The sentence is about this field already.
        [one] if detail.ends_with(&one.message) => words(one),
        fields => fields.iter().fold(detail.clone(), |all, field| format!("{all}\n  {}", words(field))),
    };
    Failure::new(exit, message).hint(next_step(code, problem))
}

/// What is wrong with a field, and what to write instead.
fn words(field: &FieldProblem) -> String {
    let place = match field.path.as_str() {
        "" => String::new(),
        // What the API calls `q` is typed as a flag here.
        "q" => "--query: ".to_owned(),
        path => format!("{path}: "),
    };
    let hint = field.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
    format!("{place}{}{hint}", field.message)
}

fn next_step(code: Option<ErrorCode>, problem: &Problem) -> String {
    match code {
        Some(ErrorCode::Unauthenticated) => {
            "sign in with `mainspring login URL`, or set MAINSPRING_TOKEN".to_owned()
        }
        Some(ErrorCode::Forbidden) => {
            "`mainspring whoami` shows what you may do; an admin gives more with `mainspring member set`"
                .to_owned()
        }
        Some(ErrorCode::InvalidSpec) => {
            "mend the fields above; `mainspring explain invalid_spec` says more".to_owned()
        }
        Some(ErrorCode::InvalidParameter) => "`mainspring describe JOB` lists the parameters".to_owned(),
        Some(ErrorCode::Internal) | None => match &problem.request_id {
            Some(id) => format!("the server's log has the details under request id {id}"),
            None => "look at the server's log".to_owned(),
        },
        Some(ErrorCode::InvalidQuery) => {
            "a query is words such as `state:failed job:NAME label:team=data created>-2h`".to_owned()
        }
        Some(ErrorCode::NotFound) => format!("{} lists what there is", lister(problem)),
        Some(code) => format!("`mainspring explain {code}`"),
    }
}

/// The command that lists things of the kind that was asked for.
fn lister(problem: &Problem) -> &'static str {
    let path = problem.instance.as_deref().unwrap_or_default();
    let noun = path.trim_start_matches("/v1/").split('/').next().unwrap_or_default();
    let is_of_job = |part: &str| path.contains(part);
    match noun {
        "jobs" if is_of_job("/triggers") => "`mainspring trigger list`",
        "jobs" => "`mainspring jobs`",
        "runs" => "`mainspring runs`",
        "nodes" => "`mainspring nodes`",
        "artifacts" => "`mainspring artifact list`",
        "calendars" => "`mainspring calendar list`",
        "namespaces" => "`mainspring namespace list`",
        "tokens" => "`mainspring token list`",
        "members" => "`mainspring member list`",
        _ => "a list, such as `mainspring jobs` or `mainspring runs`,",
    }
}

/// Whether the other side answered a TLS hello with something else, as a plain HTTP port does.
fn speaks_no_tls(error: &TransportError) -> bool {
    let words = innermost(error);
    words.contains("InvalidContentType") || words.contains("corrupt message")
}

fn innermost(error: &TransportError) -> String {
    let mut deepest: &dyn std::error::Error = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string()
}
