import { useLayoutEffect, useState } from 'preact/hooks';

/** Reads the fragment of the address, with its `#`, and again when it changes. */
export function useHash<Value>(read: (hash: string) => Value): Value {
  const [value, show] = useState(() => read(location.hash));
  // A later effect would miss a change between the first reading and the next frame.
  useLayoutEffect(() => {
    const onChange = () => show(() => read(location.hash));
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);
  return value;
}
