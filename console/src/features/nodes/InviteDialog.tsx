import { Button, Modal, Select } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { CodeCopy } from "@/components/ui/CodeCopy";
import { ZonedTime } from "@/components/ui/Time";
import { call } from "@/lib/api/client";
import { explain } from "@/lib/api/problem";
import { cli } from "@/lib/commands";

/** A one-time token and the command that joins with it, shown once. */
export function InviteDialog({ pools, onClose }: { pools: string[]; onClose: () => void }) {
  const { t } = useTranslation();
  const names = [...new Set(["default", ...pools])];
  const [pool, setPool] = useState("default");
  const make = useMutation({ mutationFn: () => call("node_invite", { body: { pool, ttl: "1h" } }) });
  const server = new URL(".", document.baseURI).href.replace(/\/$/, "");
  const command =
    make.data && cli("agent", "--server", server, "--join-token", make.data.token, "--pool", pool);
  const told = make.error ? explain(make.error, t) : undefined;
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={t("nodes.invite")}
      closeButtonProps={{ "aria-label": t("action.close") }}
    >
      <div className="ms-stack">
        {command ? (
          <>
            <p>{t("nodes.invite_text")}</p>
            <CodeCopy text={command} label={t("nodes.copy_command")} />
            <p className="ms-muted">
              {t("nodes.invite_once")} <ZonedTime at={make.data.expires_at} />
            </p>
          </>
        ) : (
          <>
            <Select
              label={t("nodes.col.pool")}
              value={pool}
              data={names}
              allowDeselect={false}
              onChange={(value) => setPool(value ?? "default")}
            />
            {told && (
              <p className="ms-error" role="alert">
                {told.title} {told.text}
              </p>
            )}
            <div className="ms-buttons">
              <Button variant="filled" loading={make.isPending} onClick={() => make.mutate()} data-autofocus>
                {t("nodes.make_command")}
              </Button>
            </div>
          </>
        )}
      </div>
    </Modal>
  );
}
