import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Loading } from './notice.js';

/** Loads a component when it is first shown. */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  let known: ComponentType<Props> | null = null;
  return function LazyPart(props: Props) {
    const [Part, show] = useState<ComponentType<Props> | null>(() => known);
    useEffect(() => {
      const open = async () => {
        known ??= await load();
        show(() => known);
      };
      open().catch(() => undefined);
    }, []);
    // After an upgrade of the server, only a reload of the page finds the file's new name.
    return Part === null ? <Loading retry={() => location.reload()} /> : <Part {...props} />;
  };
}
