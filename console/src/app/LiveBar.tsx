import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { retryLive, useLiveState } from "@/lib/live/live";
import { clock, countdown } from "@/lib/time/format";
import { useNow } from "@/lib/time/now";
import { useZone } from "./preferences";

/** Whether what the page shows is live, and since when it is not. */
export function LiveBar() {
  const { t } = useTranslation();
  const state = useLiveState();
  if (state.kind !== "down") {
    const isLive = state.kind === "live";
    return (
      <span className="ms-live" data-live={isLive || undefined} role="status">
        {isLive ? t("live.live") : t("live.connecting")}
      </span>
    );
  }
  return <Down since={state.since} retryAt={state.retryAt} />;
}

function Down({ since, retryAt }: { since: number; retryAt: number }) {
  const { t } = useTranslation();
  const zone = useZone();
  const now = useNow();
  return (
    <span className="ms-live-down">
      <span role="status">{t("live.down", { since: clock(since, zone) })}</span>
      <span className="ms-hide-phone">
        {t("live.retry_in", { wait: countdown(Math.max(1000, retryAt - now)) })}
      </span>
      <Button onClick={retryLive}>{t("action.try_now")}</Button>
    </span>
  );
}
