import app from "@/app/words.en.json";
import admin from "@/features/admin/words.en.json";
import artifacts from "@/features/artifacts/words.en.json";
import backfills from "@/features/backfills/words.en.json";
import calendar from "@/features/calendar/words.en.json";
import calendars from "@/features/calendars/words.en.json";
import editor from "@/features/editor/words.en.json";
import jobs from "@/features/jobs/words.en.json";
import me from "@/features/me/words.en.json";
import nodes from "@/features/nodes/words.en.json";
import overview from "@/features/overview/words.en.json";
import queue from "@/features/queue/words.en.json";
import run from "@/features/run/words.en.json";
import runs from "@/features/runs/words.en.json";
import signIn from "@/features/sign-in/words.en.json";
import triggers from "@/features/triggers/words.en.json";

export default {
  ...app,
  admin,
  artifacts,
  backfills,
  calendar,
  calendars,
  editor,
  jobs,
  me,
  nodes,
  overview,
  queue,
  run,
  runs,
  signIn,
  triggers,
};
