import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { ExportMenu } from "./ExportMenu";
import type { ExportFields } from "./exports";

export interface Column<T> {
  id: string;
  label: string;
  /** A CSS grid track. */
  width: string;
  cell: (row: T) => ReactNode;
  align?: "end";
  /**
   * Where it stands on a phone: first or second line of a row, or a button at its end; otherwise it is left out. A wide column
   * fills its line.
   */
  phone?: 1 | 2 | "end";
}

interface DataTableProps<T> {
  label: string;
  columns: Column<T>[];
  rows: T[];
  idOf: (row: T) => string;
  onOpen?: (row: T) => void;
  selection?: {
    has: (id: string) => boolean;
    toggle: (row: T) => void;
    toggleAll: () => void;
    isAll: boolean;
    label: string;
  };
  onEnd?: (() => void) | undefined;
  footer?: ReactNode;
  isDimmed?: boolean;
  /** What a file of the loaded rows has in it, and what it is called. */
  exportAs: { name: string; fields: ExportFields<T> };
  /** More rows are there than are loaded. */
  hasMore?: boolean | undefined;
  /** As high as its rows, up to half a screen; otherwise it takes what the page has left. */
  fits?: boolean;
}

const PHONE_ROW = 60;

/** A table of virtual rows in the page's own scroll. Rows keep their place: callers never insert above without being asked. */
export function DataTable<T>(props: DataTableProps<T>) {
  const { columns, rows, idOf, onOpen, selection, onEnd } = props;
  const { t, i18n } = useTranslation();
  const ref = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(-1);
  const [box, setBox] = useState({ row: 32, phone: false });
  useLayoutEffect(() => {
    const measure = () => {
      const row =
        Number.parseInt(getComputedStyle(document.documentElement).getPropertyValue("--ms-row"), 10) || 32;
      const phone = matchMedia("(max-width: 639px)").matches;
      setBox((before) => (before.row === row && before.phone === phone ? before : { row, phone }));
    };
    measure();
    addEventListener("resize", measure);
    const observer = new MutationObserver(measure);
    observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-density"] });
    return () => {
      removeEventListener("resize", measure);
      observer.disconnect();
    };
  }, []);
  const height = box.phone ? PHONE_ROW : box.row;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => ref.current,
    estimateSize: () => height,
    overscan: 12,
    getItemKey: (index) => (rows[index] ? idOf(rows[index]) : index),
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another height measures anew.
  useLayoutEffect(() => virtual.measure(), [height]);
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useLayoutEffect(() => {
    if (onEnd && rows.length > 0 && last >= rows.length - 10) onEnd();
  }, [last, rows.length, onEnd]);

  const template = [...(selection ? ["32px"] : []), ...columns.map((column) => column.width)].join(" ");
  const move = (to: number) => {
    const next = Math.min(Math.max(0, to), rows.length - 1);
    setActive(next);
    virtual.scrollToIndex(next);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.target instanceof HTMLInputElement && event.key !== "Escape") return;
    const row = rows[active];
    if (event.key === "j" || event.key === "ArrowDown") move(active + 1);
    else if (event.key === "k" || event.key === "ArrowUp") move(active - 1);
    else if (event.key === "Home") move(0);
    else if (event.key === "End") move(rows.length - 1);
    else if (event.key === "Enter" && row && event.target === ref.current) onOpen?.(row);
    else if (event.key === "x" && row && selection) selection.toggle(row);
    else return;
    event.preventDefault();
  };

  const count = new Intl.NumberFormat(i18n.language).format(rows.length);
  return (
    <div
      className="ms-table-box"
      data-fits={props.fits || undefined}
      style={props.fits ? { height: rows.length * height + (box.phone ? 0 : 33) + 40 } : undefined}
    >
      <div
        className="ms-table"
        ref={ref}
        tabIndex={0}
        role="table"
        aria-label={props.label}
        aria-rowcount={rows.length}
        data-phone={box.phone || undefined}
        data-dimmed={props.isDimmed || undefined}
        onKeyDown={onKey}
      >
        <div className="ms-table-head" role="row" style={{ gridTemplateColumns: template }}>
          {selection && (
            <span role="columnheader">
              <input
                type="checkbox"
                aria-label={selection.label}
                checked={selection.isAll}
                onChange={selection.toggleAll}
              />
            </span>
          )}
          {columns.map((column) => (
            <span role="columnheader" key={column.id} data-align={column.align}>
              {column.label}
            </span>
          ))}
        </div>
        <div role="rowgroup" className="ms-table-body" style={{ height: virtual.getTotalSize() }}>
          {items.map((item) => {
            const row = rows[item.index];
            if (row === undefined) return null;
            const id = idOf(row);
            const isSelected = selection?.has(id);
            return (
              <div
                key={item.key}
                role="row"
                aria-rowindex={item.index + 1}
                className="ms-row"
                data-active={item.index === active || undefined}
                data-selected={isSelected || undefined}
                style={{ gridTemplateColumns: template, height, transform: `translateY(${item.start}px)` }}
                onClick={() => setActive(item.index)}
                onKeyDown={undefined}
              >
                {selection && (
                  <span role="cell" className="ms-cell-check">
                    <input
                      type="checkbox"
                      checked={isSelected}
                      aria-label={id}
                      onChange={() => selection.toggle(row)}
                    />
                  </span>
                )}
                {columns.map((column) => (
                  <span
                    role="cell"
                    key={column.id}
                    className="ms-cell"
                    data-align={column.align}
                    data-phone={column.phone ?? 0}
                    data-fill={column.width.includes("fr") || undefined}
                  >
                    {column.cell(row)}
                  </span>
                ))}
              </div>
            );
          })}
        </div>
        {props.footer && <div className="ms-table-foot">{props.footer}</div>}
      </div>
      <div className="ms-table-tools">
        <span>{t("table.rows", { count: rows.length, text: `${props.hasMore ? "≥ " : ""}${count}` })}</span>
        <span className="ms-grow" />
        <ExportMenu {...props.exportAs} rows={rows} />
      </div>
    </div>
  );
}
