import { Select } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Confirm } from "@/components/ui/Confirm";
import { call } from "@/lib/api/client";
import type { Node } from "@/lib/api/schema";
import type { NodeVerb } from "./verbs";

export type { NodeVerb };

/** Drain, resume or lose a node; says what happens to what runs there. */
export function NodeDialog({ verb, node, onClose }: { verb: NodeVerb; node: Node; onClose: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [patience, setPatience] = useState("1h");
  const act = useMutation({
    mutationFn: () => {
      const path = { node: node.id };
      if (verb === "drain") return call("node_drain", { path, body: { patience } });
      return call(verb === "resume" ? "node_resume" : "node_lose", { path });
    },
    onSuccess: onClose,
    onSettled: () => client.invalidateQueries({ queryKey: ["nodes"] }),
  });
  return (
    <Confirm
      title={t(`nodes.${verb}.title`, { node: node.name })}
      text={t(`nodes.${verb}.text`, { count: node.running ?? 0 })}
      action={t(`nodes.verb.${verb}`)}
      danger={verb === "lose"}
      typed={verb === "lose" ? node.name : undefined}
      busy={act.isPending}
      error={act.error}
      onConfirm={() => act.mutate()}
      onClose={onClose}
    >
      {verb === "drain" && (
        <Select
          label={t("nodes.drain.patience")}
          value={patience}
          data={["0s", "10m", "1h", "6h", "24h"]}
          allowDeselect={false}
          onChange={(value) => setPatience(value ?? "1h")}
        />
      )}
    </Confirm>
  );
}
