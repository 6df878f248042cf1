import app from "@/app/words.zh.json";
import admin from "@/features/admin/words.zh.json";
import artifacts from "@/features/artifacts/words.zh.json";
import backfills from "@/features/backfills/words.zh.json";
import calendar from "@/features/calendar/words.zh.json";
import calendars from "@/features/calendars/words.zh.json";
import editor from "@/features/editor/words.zh.json";
import jobs from "@/features/jobs/words.zh.json";
import me from "@/features/me/words.zh.json";
import nodes from "@/features/nodes/words.zh.json";
import overview from "@/features/overview/words.zh.json";
import queue from "@/features/queue/words.zh.json";
import run from "@/features/run/words.zh.json";
import runs from "@/features/runs/words.zh.json";
import signIn from "@/features/sign-in/words.zh.json";
import triggers from "@/features/triggers/words.zh.json";

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
