import { Button, Modal, Select, TextInput } from "@mantine/core";
import { IconUpload } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { noticeEnd } from "@/app/session";
import { NamespaceField } from "@/components/NamespaceField";
import { explain } from "@/lib/api/problem";
import { upload } from "@/lib/api/upload";
import { bytes } from "@/lib/size";
import { artifactsKey } from "./digest";

const TTLS = ["", "7d", "30d", "90d", "365d"] as const;

/** Chooses a file, sends it, and says how far it is. */
export function UploadDialog({ ns, onClose }: { ns: string | undefined; onClose: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [file, setFile] = useState<File>();
  const [name, setName] = useState("");
  const [namespace, setNamespace] = useState(ns ?? "default");
  const [ttl, setTtl] = useState<string>("");
  const [sent, setSent] = useState(0);
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const send = useMutation({
    mutationFn: (chosen: File) => {
      stop.current = new AbortController();
      setSent(0);
      const query = { namespace, name: name || chosen.name, ttl };
      return upload("artifact_put", {
        query,
        file: chosen,
        onProgress: setSent,
        signal: stop.current.signal,
      });
    },
    onError: noticeEnd,
    onSettled: () => client.invalidateQueries({ queryKey: artifactsKey }),
  });
  const told = send.error && !(send.error instanceof DOMException) ? explain(send.error, t) : undefined;
  const made = send.data?.answer;
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={t("artifacts.upload")}
      closeOnClickOutside={!send.isPending}
      closeButtonProps={{ "aria-label": t("action.close") }}
    >
      {made ? (
        <div className="ms-stack">
          <p role="status">
            {send.data?.created ? t("artifacts.uploaded") : t("artifacts.had_it")}{" "}
            <Link to="/artifacts/$digest" params={{ digest: made.digest }} search={{ ns: made.namespace }}>
              {made.name || made.digest}
            </Link>
          </p>
          <div className="ms-buttons">
            <Button
              onClick={() => {
                setFile(undefined);
                setName("");
                send.reset();
              }}
            >
              {t("artifacts.another")}
            </Button>
            <Button variant="filled" onClick={onClose} data-autofocus>
              {t("action.close")}
            </Button>
          </div>
        </div>
      ) : (
        <form
          className="ms-stack"
          onSubmit={(event) => {
            event.preventDefault();
            if (file && !send.isPending) send.mutate(file);
          }}
        >
          <div className="ms-drop">
            <IconUpload size={20} stroke={1.6} aria-hidden />
            <span>{file ? `${file.name} · ${bytes(file.size)}` : t("artifacts.choose")}</span>
            <input
              type="file"
              aria-label={t("artifacts.file")}
              disabled={send.isPending}
              onChange={(event) => {
                const chosen = event.currentTarget.files?.[0];
                setFile(chosen);
                if (chosen) setName(chosen.name);
              }}
            />
          </div>
          <TextInput
            label={t("artifacts.col.name")}
            value={name}
            maxLength={255}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <div className="ms-two">
            <NamespaceField label={t("artifacts.col.namespace")} value={namespace} onChange={setNamespace} />
            <Select
              label={t("artifacts.keep_for")}
              value={ttl}
              allowDeselect={false}
              data={TTLS.map((value) => ({ value, label: value ? value : t("artifacts.for_ever") }))}
              onChange={(value) => setTtl(value ?? "")}
            />
          </div>
          <p className="ms-muted">{t("artifacts.kept_longer")}</p>
          {send.isPending && file && (
            <div role="status">
              <progress
                className="ms-upload-bar"
                aria-label={t("artifacts.upload")}
                max={Math.max(1, file.size)}
                value={sent}
              />
              <p className="ms-muted">
                {t("artifacts.sent", { sent: bytes(Math.min(sent, file.size)), all: bytes(file.size) })}
              </p>
            </div>
          )}
          {told && (
            <p className="ms-error" role="alert">
              {told.title} {told.text} <span className="ms-faint">{told.note}</span>
            </p>
          )}
          <div className="ms-buttons">
            {send.isPending ? (
              <Button onClick={() => stop.current?.abort()}>{t("artifacts.stop")}</Button>
            ) : (
              <Button onClick={onClose}>{t("action.close")}</Button>
            )}
            <Button type="submit" variant="filled" disabled={!file || !namespace} loading={send.isPending}>
              {t("artifacts.upload_file")}
            </Button>
          </div>
        </form>
      )}
    </Modal>
  );
}
