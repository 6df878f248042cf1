//! TLS: servers, agents and commands over `https`, and certificates that are replaced while all of them run.

use crate::world::{Store, World};

#[test]
fn agents_and_commands_speak_tls_and_the_certificate_is_replaced_while_they_do() {
    let mut world = World::empty(Store::Sqlite);
    let first = world.encrypt();
    world.add_server("server", None);
    world.add_agent("one");
    let run = world.submit(&[], "echo over $0 https");
    assert_eq!(world.wait(&run), Some(0), "{}", world.logs());
    assert_eq!(world.log_of(&run, "stdout"), "over sh https\n");
    assert_eq!(world.shown_certificate("server"), first);

    let [cert, key] = ["cert.pem", "key.pem"].map(|name| world.path(name));
    let second = world.authority().issue(&cert, &key);
    world.until("the new certificate is shown", |world| {
        (world.shown_certificate("server") == second).then_some(())
    });
    std::fs::write(&cert, "nonsense").unwrap();
    world.until("the log says that it is unusable", |world| {
        world.logs().contains("the new certificate cannot be used").then_some(())
    });
    assert_eq!(world.shown_certificate("server"), second, "the one before stays");
    let run = world.submit(&[], "true");
    assert_eq!(world.wait(&run), Some(0), "{}", world.logs());

    let unsure = world.binary().env_remove("MAINSPRING_CLIENT__CA_FILE").arg("whoami").output().unwrap();
    assert!(!unsure.status.success(), "a certificate of an unknown authority is not trusted");
    assert_eq!(world.mainspring(&["whoami"]).status.code(), Some(0));
}

#[test]
fn servers_pass_requests_on_over_tls() {
    let mut world = World::empty(Store::Postgres);
    world.encrypt();
    for place in ["logs", "artifacts"] {
        let url = format!("file://{}", world.path(place).display());
        world.set(&format!("SERVER__{}", place.to_uppercase()), &url);
    }
    world.add_server("server", None);
    world.add_server("second", None);
    // It is told of the server that owns nothing, and is sent to the other.
    world.add_agent_at("one", "second");
    let heard = world.watch("second", None);
    let submit = ["submit", "-q", "-o", "name", "--", "true"];
    let submitted = world.at("second").args(submit).output().unwrap();
    assert!(submitted.status.success(), "{submitted:?}\n{}", world.logs());
    let run = String::from_utf8(submitted.stdout).unwrap();
    let ended = world.at("second").args(["wait", "--timeout", "15m", run.trim()]).output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{ended:?}\n{}", world.logs());
    world.until("the watcher at the other server hears of it", |_| {
        heard.has(&[run.trim(), "success"]).then_some(())
    });
}
