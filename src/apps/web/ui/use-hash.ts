import { useEffect, useState } from 'preact/hooks';

/** Reads the fragment of the address, with its `#`, and again when it changes. */
export function useHash<Value>(read: (hash: string) => Value): Value {
  const [value, show] = useState(() => read(location.hash));
  useEffect(() => {
    const onChange = () => show(() => read(location.hash));
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);
  return value;
}
