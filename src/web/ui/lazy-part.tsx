import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Loading } from './notice.js';

/**
 * A part of the page in a file of its own, which is loaded when it is first shown.
 *
 * @param load imports it, for example `async () => (await import('./part.js')).Part`
 */
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
    // The file has another name after an upgrade of the server: only the whole page knows it then.
    return Part === null ? <Loading retry={() => location.reload()} /> : <Part {...props} />;
  };
}
