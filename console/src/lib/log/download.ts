// The text of a log as a file. The API gives text only to who asks by `Accept`, which a plain link cannot.
import { urlOf } from "@/lib/api/client";

export async function downloadText(run: string, attempt: number) {
  const answer = await fetch(urlOf("run_logs", { run }, { attempt }), { headers: { accept: "text/plain" } });
  if (!answer.ok) return;
  const url = URL.createObjectURL(await answer.blob());
  const link = document.createElement("a");
  link.href = url;
  link.download = `${run}-${attempt}.log`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
