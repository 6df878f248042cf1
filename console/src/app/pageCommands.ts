// What can be done with the object of the open page. Pages say it, the palette lists it.
import { useEffect, useId } from "react";

export interface PageCommand {
  /** Verb and object. */
  label: string;
  /** What else finds it, such as the English word. */
  alias?: string;
  run: () => void;
}

const registered = new Map<string, PageCommand[]>();

export const pageCommands = (): PageCommand[] => [...registered.values()].flat();

/** Offers commands while the component is there. Only what the role may do belongs in here. */
export function usePageCommands(commands: (PageCommand | false | undefined)[]) {
  const id = useId();
  useEffect(() => {
    registered.set(
      id,
      commands.filter((command) => command !== false && command !== undefined),
    );
  });
  useEffect(() => () => void registered.delete(id), [id]);
}
