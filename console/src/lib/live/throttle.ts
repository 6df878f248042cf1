/** Runs `work` at once, then at most once in `ms`; calls between are joined into one at the end. */
export function throttled(work: () => void, ms: number) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let again = false;
  const fire = () => {
    work();
    timer = setTimeout(() => {
      timer = undefined;
      if (again) {
        again = false;
        fire();
      }
    }, ms);
  };
  const call = () => {
    if (timer === undefined) fire();
    else again = true;
  };
  call.cancel = () => {
    clearTimeout(timer);
    timer = undefined;
    again = false;
  };
  return call;
}
