// A console in 40 lines: signs in, lists runs, follows the log of the one that is clicked. Only the public API.
const byId = (id) => document.getElementById(id);

async function api(path, options = {}) {
  const answer = await fetch(new URL(path, document.baseURI), options);
  if (!answer.ok) throw new Error((await answer.json()).detail);
  return answer.json();
}

async function signIn(secret) {
  const body = JSON.stringify(secret.startsWith("msl_") ? { code: secret } : { token: secret });
  await api("v1/sessions", { method: "POST", headers: { "content-type": "application/json" }, body });
}

async function list() {
  const { items } = await api("v1/runs?limit=20");
  byId("sign-in").hidden = true;
  byId("runs").replaceChildren(
    ...items.map((run) => {
      const row = document.createElement("li");
      // textContent, never innerHTML: what tasks and tenants write is text.
      row.textContent = `${run.state} ${run.job_name} ${run.id}`;
      row.addEventListener("click", () => follow(run.id));
      return row;
    }),
  );
}

let stream;
function follow(run) {
  stream?.close();
  byId("log").textContent = "";
  stream = new EventSource(new URL(`v1/runs/${run}/logs?follow=true`, document.baseURI));
  stream.addEventListener("line", (event) => byId("log").append(JSON.parse(event.data).text));
  stream.addEventListener("end", () => stream.close());
}

byId("sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  signIn(byId("token").value.trim()).then(list, (error) => alert(error.message));
});
// News of runs: the list is read again, at most once a second. The cookie of a session may be there already.
list().then(() => {
  let timer;
  new EventSource(new URL("v1/watch", document.baseURI)).addEventListener("run", () => {
    timer ??= setTimeout(() => list().finally(() => (timer = undefined)), 1000);
  });
}, () => {});
