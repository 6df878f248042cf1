import { ActionIcon, Button, Menu, SegmentedControl, TextInput, Tooltip } from "@mantine/core";
import {
  IconArrowBarToDown,
  IconChevronDown,
  IconChevronUp,
  IconClock,
  IconDownload,
  IconLetterCase,
  IconMaximize,
  IconRegex,
  IconTextWrap,
} from "@tabler/icons-react";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { LogStream } from "@/lib/api/schema";
import type { Tally, TimeMode } from "./logRows";

export interface LogOptions {
  time: TimeMode;
  wrap: boolean;
  full: boolean;
}

export interface LogSearch {
  find: string;
  re: boolean;
  case: boolean;
  stream: LogStream | undefined;
}

interface LogToolbarProps {
  attempts: number[];
  attempt: number;
  onAttempt: (attempt: number) => void;
  search: LogSearch;
  onSearch: (change: Partial<LogSearch>) => void;
  /** Nothing while it is searched. */
  tally: Tally | undefined;
  onMatch: (by: 1 | -1) => void;
  options: LogOptions;
  onOptions: (change: Partial<LogOptions>) => void;
  follow: boolean;
  canFollow: boolean;
  onFollow: () => void;
  onDownload: () => void;
}

const TIMES: TimeMode[] = ["off", "clock", "start", "delta"];

export function LogToolbar(props: LogToolbarProps) {
  const { t, i18n } = useTranslation();
  const { search, onSearch, tally, options, onOptions } = props;
  const number = (value: number) => new Intl.NumberFormat(i18n.language).format(value);
  const hasNone = !tally || tally.count === 0;
  return (
    <div className="ms-log-tools">
      {props.attempts.length > 1 && (
        <SegmentedControl
          aria-label={t("run.log.attempt")}
          value={String(props.attempt)}
          data={props.attempts.slice(-6).map((number) => ({ value: String(number), label: `#${number}` }))}
          onChange={(value) => props.onAttempt(Number(value))}
        />
      )}
      <SegmentedControl
        aria-label={t("run.log.stream")}
        value={search.stream ?? "all"}
        data={[
          { value: "all", label: t("run.log.all") },
          { value: "stdout", label: "stdout" },
          { value: "stderr", label: "stderr" },
          { value: "system", label: "system" },
        ]}
        onChange={(value) => onSearch({ stream: value === "all" ? undefined : (value as LogStream) })}
      />
      <TextInput
        size="xs"
        className="ms-log-find"
        data-log-find
        aria-label={t("run.log.find")}
        placeholder={t("run.log.find")}
        value={search.find}
        error={tally?.isBroken ?? false}
        onChange={(event) => onSearch({ find: event.currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key === "Enter") props.onMatch(event.shiftKey ? -1 : 1);
          if (event.key === "Escape") {
            onSearch({ find: "" });
            event.currentTarget.blur();
          }
        }}
        rightSectionWidth={search.find ? 96 : 0}
        rightSection={
          search.find && (
            <span className="ms-log-count" role="status">
              {tally === undefined
                ? t("run.log.searching")
                : tally.at !== undefined
                  ? t("run.log.match_of", { n: number(tally.at + 1), count: number(tally.count) })
                  : t("run.log.matches", { count: tally.count, text: number(tally.count) })}
            </span>
          )
        }
      />
      <Tool label={t("run.log.previous")} disabled={hasNone} onClick={() => props.onMatch(-1)}>
        <IconChevronUp size={16} />
      </Tool>
      <Tool label={t("run.log.next")} disabled={hasNone} onClick={() => props.onMatch(1)}>
        <IconChevronDown size={16} />
      </Tool>
      <Tool label={t("run.log.regex")} pressed={search.re} onClick={() => onSearch({ re: !search.re })}>
        <IconRegex size={16} />
      </Tool>
      <Tool label={t("run.log.case")} pressed={search.case} onClick={() => onSearch({ case: !search.case })}>
        <IconLetterCase size={16} />
      </Tool>
      <span className="ms-grow" />
      {props.canFollow && (
        <Button
          leftSection={<IconArrowBarToDown size={14} />}
          aria-pressed={props.follow}
          variant={props.follow ? "light" : "default"}
          onClick={props.onFollow}
        >
          {t("run.log.follow")}
        </Button>
      )}
      <Menu>
        <Menu.Target>
          <ActionIcon size={30} aria-label={t("run.log.times")}>
            <IconClock size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {TIMES.map((time) => (
            <Menu.Item key={time} fw={options.time === time ? 600 : 400} onClick={() => onOptions({ time })}>
              {t(`run.log.time_${time}`)}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <Tool
        label={t("run.log.wrap")}
        pressed={options.wrap}
        onClick={() => onOptions({ wrap: !options.wrap })}
      >
        <IconTextWrap size={16} />
      </Tool>
      <Tool label={t("run.log.download")} onClick={props.onDownload}>
        <IconDownload size={16} />
      </Tool>
      <Tool
        label={t("run.log.full")}
        pressed={options.full}
        onClick={() => onOptions({ full: !options.full })}
      >
        <IconMaximize size={16} />
      </Tool>
    </div>
  );
}

function Tool(props: {
  label: string;
  pressed?: boolean;
  disabled?: boolean;
  onClick: () => void;
  children: ReactNode;
}) {
  return (
    <Tooltip label={props.label}>
      <ActionIcon
        size={30}
        aria-label={props.label}
        aria-pressed={props.pressed}
        disabled={props.disabled ?? false}
        variant={props.pressed ? "light" : "subtle"}
        color={props.pressed ? "accent" : "gray"}
        onClick={props.onClick}
      >
        {props.children}
      </ActionIcon>
    </Tooltip>
  );
}
