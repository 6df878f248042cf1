import { Skeleton } from "@mantine/core";
import { calendarRoute } from "@/app/router";
import { useNamespace } from "@/app/useNamespace";
import { ErrorFace } from "@/components/ui/ErrorFace";
import { CalendarEditor } from "./CalendarEditor";
import { useCalendar } from "./useCalendars";

/** One calendar: what it leaves out, and the triggers that heed it. */
export function CalendarPage() {
  const { calendar: name } = calendarRoute.useParams();
  const ns = useNamespace() ?? "default";
  const calendar = useCalendar(ns, name);
  if (calendar.error && !calendar.data) {
    return (
      <div className="ms-page">
        <ErrorFace error={calendar.error} onRetry={() => void calendar.refetch()} />
      </div>
    );
  }
  if (!calendar.data) {
    return (
      <div className="ms-page" aria-busy="true">
        <Skeleton height={36} width="40%" />
        <Skeleton height={420} />
      </div>
    );
  }
  const { namespace } = calendar.data;
  return <CalendarEditor key={`${namespace} ${name}`} ns={namespace} calendar={calendar.data} />;
}
