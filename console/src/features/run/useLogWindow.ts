// Scrolling of the log: a position in pixels of the whole list, mapped to a capped scroll bar, and following the end.
import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from "react";
import { clamp, positionMax, ROW_PX, slice, windowOf } from "@/lib/log/window";

export function useLogWindow(
  box: RefObject<HTMLDivElement | null>,
  rows: number,
  follow: boolean,
  onLeave: () => void,
) {
  const [viewport, setViewport] = useState(400);
  const [position, setPosition] = useState(0);
  const [isScrolled, setScrolled] = useState(false);
  const lastScroll = useRef(0);
  const window = windowOf(rows, viewport);
  const most = positionMax(rows, viewport);

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setViewport(element.clientHeight));
    observer.observe(element);
    setViewport(element.clientHeight);
    return () => observer.disconnect();
  }, [box]);

  const moveTo = useCallback(
    (to: number) => {
      const next = clamp(to, most);
      setPosition(next);
      const element = box.current;
      if (!element) return;
      lastScroll.current = next / window.scale;
      element.scrollTop = lastScroll.current;
    },
    [box, most, window.scale],
  );

  useLayoutEffect(() => {
    if (follow) moveTo(most);
  }, [follow, most, moveTo]);

  const onScroll = () => {
    const element = box.current;
    if (!element) return;
    const moved = element.scrollTop - lastScroll.current;
    if (Math.abs(moved) < 1) return;
    lastScroll.current = element.scrollTop;
    if (moved < -1) onLeave();
    setScrolled(true);
    setPosition(clamp(element.scrollTop * window.scale, most));
  };

  /** In a scaled list a notch of the wheel moves by rows, not by the scale. */
  const onWheel = (event: React.WheelEvent) => {
    if (window.scale === 1) return;
    if (event.deltaY < 0) onLeave();
    setScrolled(true);
    moveTo(position + event.deltaY);
  };

  const toRow = useCallback((row: number, above = 5) => moveTo((row - above) * ROW_PX), [moveTo]);

  return {
    viewport,
    window,
    slice: slice(rows, position, viewport, window),
    position,
    /** By the reader, not by us. */
    isScrolled,
    moveTo,
    toRow,
    onScroll,
    onWheel,
    most,
  };
}
