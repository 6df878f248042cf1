import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import type { ArtifactInfo } from "@/lib/api/schema";
import { UNKNOWN } from "@/lib/time/format";
import { useUsers } from "./useUsers";

/** The jobs that name a file, each a link. */
export function Users({ artifact }: { artifact: ArtifactInfo }) {
  const { t } = useTranslation();
  const users = useUsers(artifact);
  if (!users.data) return <span aria-busy={users.isPending}>{UNKNOWN}</span>;
  const { jobs, isWhole } = users.data;
  return (
    <>
      {jobs.length === 0 && t("artifacts.no_users")}
      {jobs.map((job, index) => (
        <span key={job}>
          {index > 0 && ", "}
          <Link to="/jobs/$job" params={{ job }} search={{ ns: artifact.namespace }}>
            {job}
          </Link>
        </span>
      ))}
      {!isWhole && ` ${t("artifacts.users_partial")}`}
    </>
  );
}
