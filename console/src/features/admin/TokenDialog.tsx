import { ActionIcon, Button, Modal, Select, TextInput } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useIdentity, useMay } from "@/app/session";
import { NamespaceField } from "@/components/NamespaceField";
import { RoleField } from "@/components/RoleField";
import { tokensKey } from "@/components/tokens/tokens";
import { CodeCopy } from "@/components/ui/CodeCopy";
import { Confirm } from "@/components/ui/Confirm";
import { ZonedTime } from "@/components/ui/Time";
import { call } from "@/lib/api/client";
import type { Role } from "@/lib/api/schema";

const TTLS = ["1d", "7d", "30d", "90d", "365d"];

interface Limit {
  key: number;
  role: Role;
  namespace: string;
}

/** Makes a token and shows its secret, this once. */
export function TokenDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const identity = useIdentity();
  const mayOthers = useMay()("token.create_other");
  const [name, setName] = useState("");
  const [subject, setSubject] = useState(identity?.subject ?? "");
  const [ttl, setTtl] = useState("90d");
  const [limits, setLimits] = useState<Limit[]>([]);
  const make = useMutation({
    mutationFn: () =>
      call("token_create", {
        body: {
          name,
          ttl,
          subject: subject.trim() === identity?.subject ? null : subject.trim(),
          scopes: limits.map(({ role, namespace }) => ({ role, namespace: namespace || null })),
        },
      }),
    onSettled: () => client.invalidateQueries({ queryKey: tokensKey }),
  });
  if (make.data) {
    const { secret, token } = make.data;
    return (
      <Modal
        opened
        onClose={onClose}
        size="lg"
        title={t("admin.token.made", { name: token.name || token.id })}
        closeOnClickOutside={false}
        closeButtonProps={{ "aria-label": t("action.close") }}
      >
        <div className="ms-stack">
          <p>{t("admin.token.once")}</p>
          <CodeCopy text={secret} label={t("admin.token.copy")} />
          <p className="ms-muted">
            {t("admin.token.use")}
            {token.expires_at && (
              <>
                {" "}
                {t("admin.token.until")} <ZonedTime at={token.expires_at} />
              </>
            )}
          </p>
          <div className="ms-buttons">
            <Button variant="filled" onClick={onClose}>
              {t("admin.token.done")}
            </Button>
          </div>
        </div>
      </Modal>
    );
  }
  const change = (key: number, part: Partial<Limit>) =>
    setLimits(limits.map((limit) => (limit.key === key ? { ...limit, ...part } : limit)));
  return (
    <Confirm
      title={t("admin.token.new")}
      action={t("admin.token.create")}
      size="lg"
      busy={make.isPending}
      error={make.error}
      isReady={subject.trim() !== ""}
      onConfirm={() => make.mutate()}
      onClose={onClose}
    >
      <div className="ms-two">
        <TextInput
          label={t("admin.col.name")}
          description={t("admin.token.name_text")}
          value={name}
          maxLength={255}
          data-autofocus
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Select
          label={t("admin.token.ttl")}
          description={t("admin.token.ttl_text")}
          value={ttl}
          data={TTLS}
          allowDeselect={false}
          onChange={(value) => setTtl(value ?? "90d")}
        />
      </div>
      {mayOthers && (
        <TextInput
          label={t("admin.col.subject")}
          description={t("admin.token.subject_text")}
          value={subject}
          maxLength={128}
          spellCheck={false}
          autoCapitalize="off"
          onChange={(event) => setSubject(event.currentTarget.value)}
        />
      )}
      <div className="ms-limits">
        <h2>{t("admin.col.limits")}</h2>
        <p className="ms-muted">{t("admin.token.limits_text", { subject })}</p>
        {limits.map((limit, index) => (
          <div className="ms-limit" key={limit.key}>
            <NamespaceField
              label={t("admin.col.namespace")}
              description={t("admin.empty_everywhere")}
              value={limit.namespace}
              onChange={(namespace) => change(limit.key, { namespace })}
            />
            <RoleField value={limit.role} onChange={(role) => change(limit.key, { role })} />
            <ActionIcon
              size={28}
              aria-label={t("admin.token.drop_limit", { n: index + 1 })}
              onClick={() => setLimits(limits.filter((each) => each.key !== limit.key))}
            >
              <IconX size={16} />
            </ActionIcon>
          </div>
        ))}
        <Button
          variant="subtle"
          onClick={() =>
            setLimits([...limits, { key: (limits.at(-1)?.key ?? 0) + 1, role: "viewer", namespace: "" }])
          }
        >
          {t("admin.token.add_limit")}
        </Button>
      </div>
    </Confirm>
  );
}
