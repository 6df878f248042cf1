//! Privilege: what an order says, its environment above all, never reaches a process that has more rights than the task.
//!
//! A library of the test's own is put into every variable that a loader follows. It notes the user and the program of each
//! process that it is loaded into: each must be the task's user and never a program of ours, whichever way the task starts.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use mainspring_sidecar::log::FrameKind;
use mainspring_sidecar::make_passable;
use mainspring_sidecar::protocol::{End, File, ResourceCaps, Rlimit, RlimitKind, Start};

use crate::sidecar::{Sidecar, command, key, shell};

const WITNESS: &str = r#"
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
unsigned int la_version(unsigned int version) { return version; }
__attribute__((constructor)) static void note(void) {
    char exe[4096] = {0}, line[5000];
    readlink("/proc/self/exe", exe, sizeof exe - 1);
    int length = snprintf(line, sizeof line, "%d %s\n", (int)geteuid(), exe);
    int fd = open(NOTES, O_WRONLY | O_APPEND);
    if (fd >= 0) { write(fd, line, length); close(fd); }
}
"#;

/// A place that everybody may write notes in, and a library that does.
struct Witness {
    place: tempfile::TempDir,
    library: PathBuf,
}

impl Witness {
    fn new() -> Self {
        assert!(rustix::process::getuid().is_root(), "this test needs root");
        let place = open_directory();
        let (source, library, notes) =
            (place.path().join("witness.c"), place.path().join("witness.so"), place.path().join("notes"));
        std::fs::write(&source, WITNESS).unwrap();
        std::fs::write(&notes, "").unwrap();
        std::fs::set_permissions(&notes, PermissionsExt::from_mode(0o666)).unwrap();
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-w", "-o"]).arg(&library).arg(&source);
        compiler.arg(format!("-DNOTES=\"{}\"", notes.display()));
        assert!(compiler.status().unwrap().success(), "a C compiler is needed");
        // Names of libraries that our program loads and a shell does not.
        let instead = place.path().join("instead");
        std::fs::create_dir(&instead).unwrap();
        for name in ["libgcc_s.so.1", "libm.so.6"] {
            std::fs::copy(&library, instead.join(name)).unwrap();
        }
        Self { place, library }
    }

    /// Environments that make a loader do as a job says.
    fn environments(&self) -> Vec<Vec<(String, String)>> {
        let library = self.library.display().to_string();
        let instead = self.place.path().join("instead").display().to_string();
        let one = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
        vec![
            one("LD_PRELOAD", &library),
            one("LD_AUDIT", &library),
            one("LD_LIBRARY_PATH", &instead),
            [one("LD_PRELOAD", &library), one("GLIBC_TUNABLES", "glibc.malloc.check=3:glibc.rtld.nns=1")]
                .concat(),
        ]
    }

    /// The users and programs that were noted since the last look.
    fn notes(&self) -> Vec<(u32, String)> {
        let path = self.place.path().join("notes");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, "").unwrap();
        let note = |line: &str| line.split_once(' ').map(|(uid, exe)| (uid.parse().unwrap(), exe.to_owned()));
        text.lines().filter_map(note).collect()
    }
}

/// A directory that others may pass, as `/var/lib` is.
fn open_directory() -> tempfile::TempDir {
    let mode = PermissionsExt::from_mode(0o755);
    tempfile::Builder::new().prefix("sidecar-").permissions(mode).tempdir_in("/tmp").unwrap()
}

fn start_open() -> Sidecar {
    let outer = open_directory();
    make_passable(&outer.path().join("data")).unwrap();
    Sidecar::start_below(outer, "data")
}

/// Every way to start a task: the user, limits, a cgroup, a script or a process.
fn ways() -> Vec<Start> {
    let core = Rlimit { kind: RlimitKind::Core, soft: Some(0), hard: Some(0) };
    let files = Rlimit { kind: RlimitKind::OpenFiles, soft: Some(256), hard: Some(256) };
    let mut ways = Vec::new();
    for user in [Some("nobody".to_owned()), Some("root".to_owned()), None] {
        for rlimits in [vec![], vec![core, files]] {
            for pids in [None, Some(50)] {
                for script in [false, true] {
                    let mut start = match script {
                        false => shell("id -u"),
                        true => Start::new(key(), ["/bin/sh", "../script"]),
                    };
                    let content = "#!/bin/sh\nid -u\n".into();
                    let file = File { name: "script".into(), content, mode: 0o755, variable: None };
                    start.files.extend(script.then_some(file));
                    start.caps = ResourceCaps { pids, ..ResourceCaps::default() };
                    (start.user, start.rlimits) = (user.clone(), rlimits.clone());
                    ways.push(start);
                }
            }
        }
    }
    ways
}

#[test]
fn an_environment_reaches_the_task_and_nobody_with_more_rights() {
    let witness = Witness::new();
    let mut sidecar = start_open();
    let ours = command(Path::new("/")).get_program().to_owned();
    for (number, env) in witness.environments().into_iter().enumerate() {
        // Directories of earlier tasks are used again from the second round on.
        for mut start in ways().into_iter().chain(ways()) {
            start.key = key();
            start.env.clone_from(&env);
            let uid = if start.user.as_deref() == Some("nobody") { 65534 } else { 0 };
            let finished = sidecar.run(&start);
            let told = (finished.end, sidecar.stored(start.key, FrameKind::Stdout));
            assert_eq!(told, (End::Exited(0), format!("{uid}\n")), "{start:?}");
            let notes = witness.notes();
            // What a library path names instead is loaded by neither a shell nor `id`.
            assert!(!notes.is_empty() || number == 2, "the witness saw nothing: {start:?}");
            for (seen, program) in notes {
                assert_eq!(seen, uid, "{program} got the environment of {start:?}");
                assert_ne!(Path::new(&program), Path::new(&ours), "{start:?}");
            }
            sidecar.send(mainspring_sidecar::protocol::Request::Ack { key: start.key });
            sidecar.send(mainspring_sidecar::protocol::Request::Remove { key: start.key });
        }
    }
}

#[test]
fn a_task_of_another_user_gets_no_rights_back() {
    let mut sidecar = start_open();
    for mut start in ways() {
        start.argv = ["grep", "-E", "NoNewPrivs|CapEff", "/proc/self/status"].map(Into::into).to_vec();
        let other = start.user.as_deref() == Some("nobody");
        sidecar.run(&start);
        let output = sidecar.stored(start.key, FrameKind::Stdout);
        assert_eq!(output.contains("NoNewPrivs:\t1"), other, "{output}");
        assert_eq!(output.contains("CapEff:\t0000000000000000"), other, "{output}");
    }
}

#[test]
fn a_sidecar_without_standard_files_gives_tasks_their_own() {
    let outer = open_directory();
    let data = outer.path().join("data");
    make_passable(&data).unwrap();
    let mut closed = Command::new("sh");
    let script = "\"$@\" 0<&- 1>&- 2>&- & until [ -S $1/private/sidecar.sock ]; do :; done; echo ready; exec 1>&-; wait";
    closed.args(["-c", &script.replace("$1", "$2")]).arg("sh");
    closed.arg(command(&data).get_program()).arg(&data);
    let mut sidecar = Sidecar::start_with(&mut closed, outer, &data);
    for mut start in ways() {
        start.argv =
            ["/bin/sh", "-c", "readlink /proc/self/fd/0; echo out; echo err >&2"].map(Into::into).to_vec();
        assert_eq!(sidecar.run(&start).end, End::Exited(0));
        assert_eq!(sidecar.stored(start.key, FrameKind::Stdout), "/dev/null\nout\n");
        assert_eq!(sidecar.stored(start.key, FrameKind::Stderr), "err\n");
    }
}

#[test]
fn a_working_directory_is_entered_with_the_rights_of_the_task() {
    let mut sidecar = start_open();
    let place = open_directory();
    let closed = place.path().join("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::set_permissions(&closed, PermissionsExt::from_mode(0o700)).unwrap();
    // What the user swaps in after the order was looked at is at the path when it is entered.
    let cwd = place.path().join("cwd");
    symlink(&closed, &cwd).unwrap();
    for mut start in ways() {
        let other = start.user.as_deref() == Some("nobody");
        start.argv = ["/bin/sh", "-c", "touch here"].map(Into::into).to_vec();
        start.cwd = Some(cwd.display().to_string());
        if other {
            sidecar.order(&start);
            let (_, message) = sidecar.refused(start.key);
            assert!(message.contains("`nobody` may not pass"), "{message}");
            assert!(!closed.join("here").exists(), "{start:?}");
        } else {
            assert_eq!(sidecar.run(&start).end, End::Exited(0));
            std::fs::remove_file(closed.join("here")).unwrap();
        }
    }
}

#[test]
fn a_working_directory_that_goes_away_before_the_exec_refuses_the_start() {
    let mut sidecar = start_open();
    let place = open_directory();
    let [cwd, aside, closed] = ["cwd", "aside", "closed"].map(|name| place.path().join(name));
    for path in [&cwd, &closed] {
        std::fs::create_dir(path).unwrap();
    }
    std::fs::set_permissions(&closed, PermissionsExt::from_mode(0o700)).unwrap();
    // Swaps the directory for a link to a closed one and back, while tasks are started in it.
    let mut swapper = Command::new("sh");
    swapper.args(["-c", "cd $0; while :; do mv cwd aside; ln -s closed cwd; rm cwd; mv aside cwd; done"]);
    let mut swapper = swapper.arg(place.path()).stderr(std::process::Stdio::null()).spawn().unwrap();
    for mut start in (0..4).flat_map(|_| ways()) {
        start.key = key();
        start.user = Some("nobody".to_owned());
        start.argv = ["/bin/sh", "-c", "pwd -P"].map(Into::into).to_vec();
        start.files.clear();
        start.cwd = Some(cwd.display().to_string());
        sidecar.order(&start);
        let ran = sidecar.wait(|event| match event {
            mainspring_sidecar::protocol::Event::Refused { key, .. } if *key == start.key => Some(false),
            mainspring_sidecar::protocol::Event::Finished(finished) if finished.key == start.key => {
                Some(true)
            }
            _ => None,
        });
        // It is in the directory that it asked for, under either of its names, or it is not started.
        let output = sidecar.stored(start.key, FrameKind::Stdout);
        let good = [&cwd, &aside].iter().any(|path| output == format!("{}\n", path.display()));
        assert!(!ran || good || output.is_empty(), "{output}");
    }
    swapper.kill().unwrap();
    swapper.wait().unwrap();
}
