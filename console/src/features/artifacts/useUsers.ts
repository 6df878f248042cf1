import { useQuery } from "@tanstack/react-query";
import { call } from "@/lib/api/client";
import type { ArtifactInfo, Job } from "@/lib/api/schema";
import { artifactsKey } from "./digest";

const JOBS_MAX = 500;

const names = (job: Job, digest: string) => {
  const files = (job.spec as { artifacts?: { digest?: string }[] } | undefined)?.artifacts ?? [];
  return files.some((file) => file.digest === digest);
};

/** Jobs of the namespace whose current version names the file; among the first of them when there are many. */
export const useUsers = ({ digest, namespace }: ArtifactInfo) =>
  useQuery({
    queryKey: [...artifactsKey, "users", namespace, digest],
    queryFn: async ({ signal }) => {
      const page = await call("job_list", { query: { namespace, spec: true, limit: JOBS_MAX }, signal });
      const jobs = page.items.filter((job) => job.namespace === namespace && names(job, digest));
      return { jobs: jobs.map((job) => job.name), isWhole: !page.next_cursor };
    },
    // Who asks before a deletion is told what is true now.
    staleTime: 0,
  });
