import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Acts on events of the window, from the first frame on: a later effect would miss one before it. */
export function useEvents(act: () => void, ...names: readonly string[]): void {
  const latest = useRef(act);
  latest.current = act;
  useLayoutEffect(() => {
    const onEvent = () => latest.current();
    names.forEach((name) => addEventListener(name, onEvent));
    return () => names.forEach((name) => removeEventListener(name, onEvent));
  }, []);
}

/** Reads the fragment of the address, with its `#`, and again when it changes. */
export function useHash<Value>(read: (hash: string) => Value): Value {
  const [value, show] = useState(() => read(location.hash));
  useEvents(() => show(() => read(location.hash)), 'hashchange');
  return value;
}

/** Renders the caller again at a time in Unix milliseconds. */
export function useRenderingAt(time: number | undefined): void {
  const [, render] = useState(0);
  useEffect(() => {
    if (time === undefined) {
      return undefined;
    }
    const timer = setTimeout(() => render(time), time - Date.now());
    return () => clearTimeout(timer);
  }, [time]);
}
