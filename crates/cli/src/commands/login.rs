//! `mainspring login URL`: signs in to a server and remembers it; commands talk to it from then on.

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Args;
use mainspring_client::api::{CreateToken, SessionRequest};
use mainspring_client::{Builder, Client, Error};
use mainspring_model::ErrorCode;
use serde_json::{Value, json};

use crate::arguments::Global;
use crate::ask::read_secret;
use crate::config::{Source, load};
use crate::context::check_token;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{BOLD, Column, Output, Paint, Row, Table};
use crate::target::{Target, Targets, read_ca, read_token};

/// What `login` takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  mainspring login https://mainspring.example --token-file token.txt\n  \
    mainspring login https://mainspring.example --code 7H2K-…\n  mainspring login --use local")]
pub(crate) struct Login {
    /// Where the server is, or several of one cluster with commas between; or the link that `up` prints, with its one-time code
    server: Option<String>,
    /// A one-time code instead of a token
    #[arg(long)]
    code: Option<String>,
    /// Use a server that is known already, by the name in --list
    #[arg(long = "use", value_name = "NAME", conflicts_with_all = ["server", "code"])]
    switch: Option<String>,
    /// List the servers that are known
    #[arg(long)]
    list: bool,
}

const COLUMNS: &[Column] = &[Column::always(""), Column::always("NAME"), Column::always("URL")];

impl Login {
    pub(crate) async fn run(self, global: &Global, output: Output) -> Result<ExitCode, Failure> {
        if self.list || (self.server.is_none() && self.switch.is_none()) {
            return list(output);
        }
        if let Some(name) = &self.switch {
            Targets::switch(name)?;
            output.say(format!("commands talk to {name} from now on"));
            return Ok(ExitCode::SUCCESS);
        }
        let (url, code) = address(&self.server.unwrap_or_default(), self.code);
        let config = load(&Source::of_process(global.config.clone()))?.config.client;
        let ca_file = config.ca_file.map(std::path::absolute).transpose()?;
        let ca_pem = ca_file.as_deref().map(read_ca).transpose()?;
        let client = || {
            let builder = Client::builder(&url).retries(1);
            ca_pem.iter().fold(builder, |builder, pem| builder.ca_pem(pem.clone()))
        };
        let token = match (&code, &global.token_file) {
            (Some(code), _) => exchange(client, code).await?,
            (None, Some(file)) => read_token(file)?,
            (None, None) => match config.token {
                Some(token) => token,
                None if std::io::stdin().is_terminal() => read_secret("Token: ")?,
                None => {
                    let mut token = String::new();
                    std::io::stdin().read_line(&mut token)?;
                    token.trim().to_owned()
                }
            },
        };
        if token.is_empty() {
            return Err(Failure::usage("no token was given")
                .hint("an admin makes one with `mainspring token create NAME --subject YOU`"));
        }
        check_token(&token)?;
        let me = client().token(&token).build()?.me().await.map_err(strange)?;
        let first = url.split(',').next().unwrap_or(&url);
        let name = first.split_once("://").map_or(first, |(_, host)| host).trim_end_matches('/').to_owned();
        Targets::remember(&name, Target { url: url.clone(), token: Some(token), token_file: None, ca_file })?;
        output.say(format!(
            "signed in to {url} as {}; commands talk to it from now on",
            (&me.subject).paint(BOLD)
        ));
        if let Some(at) = me.expires_at {
            output.say(format!("the token is good until {at}; sign in again then"));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The server's URL, and the one-time code that was given, or that the link to sign in carries.
fn address(server: &str, code: Option<String>) -> (String, Option<String>) {
    let (url, in_link) = match server.split_once("/#login=") {
        Some((url, in_link)) => (url, Some(in_link.to_owned())),
        None => (server, None),
    };
    (url.trim_end_matches('/').to_owned(), code.or(in_link))
}

/// A one-time code opens a session; the session makes a token for this machine.
async fn exchange(client: impl Fn() -> Builder, code: &str) -> Result<String, Failure> {
    let anonymous = client().build()?;
    let request = SessionRequest { code: Some(code.to_owned()), token: None };
    let (_, cookie) = anonymous.create_session(&request).await.map_err(spent)?;
    let session = cookie.and_then(|cookie| cookie.split(';').next().map(str::to_owned));
    let session =
        session.ok_or_else(|| Failure::new(Exit::Denied, "the server gave no session for this code"))?;
    let client = client().session(session).build()?;
    let request = CreateToken { name: "mainspring login".into(), ..CreateToken::default() };
    Ok(client.create_token(&request).await?.secret)
}

/// Who is signing in is not told to sign in.
fn strange(error: Error) -> Failure {
    let is_strange = error.code() == Some(ErrorCode::Unauthenticated);
    let failure = Failure::from(error);
    if is_strange {
        return failure.hint("an admin makes one with `mainspring token create NAME --subject YOU`");
    }
    failure
}

/// A code is good once: who comes again needs another.
fn spent(error: Error) -> Failure {
    if error.code() != Some(ErrorCode::Unauthenticated) {
        return error.into();
    }
    Failure::new(Exit::Denied, "the code was used already, is too old, or was never given").hint(
        "the next start of `mainspring up` prints a new link; where `up` was started, `mainspring login --use local` needs \
         none; a token signs in as often as it is good: `mainspring login URL --token-file FILE`",
    )
}

fn list(output: Output) -> Result<ExitCode, Failure> {
    let targets = Targets::read()?;
    if targets.target.is_empty() {
        return Err(Failure::new(Exit::NotFound, "no server is known")
            .hint("`mainspring up` starts one here, `mainspring login URL` signs in to one"));
    }
    let is_used = |name: &str| targets.current.as_deref() == Some(name);
    // Without the tokens: who lists servers does not ask for secrets.
    let known: Vec<Value> = targets
        .target
        .iter()
        .map(|(name, target)| json!({ "name": name, "url": target.url, "current": is_used(name) }))
        .collect();
    output.list(&known, || {
        Table::new(COLUMNS, "").rows(targets.target.iter().map(|(name, target)| {
            Row::new(name).cell(if is_used(name) { "*" } else { " " }).cell(name).cell(&target.url)
        }))
    })?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_carries_its_code() {
        let check = |server: &str, code: Option<&str>, expected: Option<&str>| {
            let (url, code) = address(server, code.map(str::to_owned));
            assert_eq!((url.as_str(), code.as_deref()), ("http://host:1", expected));
        };
        check("http://host:1/", None, None);
        check("http://host:1/#login=msl_x", None, Some("msl_x"));
        check("http://host:1", Some("msl_y"), Some("msl_y"));
    }
}
