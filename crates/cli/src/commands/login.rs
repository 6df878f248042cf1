//! `mainspring login URL`: signs in to a server and remembers it; commands talk to it from then on.

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Args;
use mainspring_client::Client;
use mainspring_client::api::{CreateToken, SessionRequest};

use crate::arguments::Global;
use crate::ask::read_line;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{BOLD, Output, Paint};
use crate::target::{Target, Targets, read_token};

/// What `login` takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  mainspring login https://mainspring.example --token-file token.txt\n  \
    mainspring login https://mainspring.example --code 7H2K-…\n  mainspring login --use local")]
pub(crate) struct Login {
    /// Where the server is
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
        let url = self.server.unwrap_or_default();
        let url = url.trim_end_matches('/').to_owned();
        let token = match (&self.code, &global.token_file) {
            (Some(code), _) => exchange(&url, code).await?,
            (None, Some(file)) => read_token(file)?,
            (None, None) => match std::env::var("MAINSPRING_TOKEN") {
                Ok(token) => token,
                Err(_) if std::io::stdin().is_terminal() => read_line("Token: ")?,
                Err(_) => {
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
        let me = Client::builder(&url).token(&token).retries(1).build()?.me().await?;
        let name = url.split_once("://").map_or(url.as_str(), |(_, host)| host).to_owned();
        Targets::remember(&name, Target { url: url.clone(), token: Some(token), token_file: None })?;
        output.say(format!(
            "signed in to {url} as {}; commands talk to it from now on",
            (&me.subject).paint(BOLD)
        ));
        Ok(ExitCode::SUCCESS)
    }
}

/// A one-time code opens a session; the session makes a token for this machine.
async fn exchange(url: &str, code: &str) -> Result<String, Failure> {
    let anonymous = Client::builder(url).retries(1).build()?;
    let request = SessionRequest { code: Some(code.to_owned()), token: None };
    let (_, cookie) = anonymous.create_session(&request).await?;
    let session = cookie.and_then(|cookie| cookie.split(';').next().map(str::to_owned));
    let session =
        session.ok_or_else(|| Failure::new(Exit::Denied, "the server gave no session for this code"))?;
    let client = Client::builder(url).session(session).retries(1).build()?;
    let request = CreateToken { name: "mainspring login".into(), ..CreateToken::default() };
    Ok(client.create_token(&request).await?.secret)
}

fn list(output: Output) -> Result<ExitCode, Failure> {
    let targets = Targets::read()?;
    if targets.target.is_empty() {
        return Err(Failure::new(Exit::NotFound, "no server is known")
            .hint("`mainspring up` starts one here, `mainspring login URL` signs in to one"));
    }
    for (name, target) in &targets.target {
        let mark = if targets.current.as_deref() == Some(name) { "*" } else { " " };
        output.line(format!("{mark} {name}  {}", target.url))?;
    }
    Ok(ExitCode::SUCCESS)
}
