import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Loading, problem, type Notify } from './notice.js';

/**
 * A part of the page in a file of its own, which is loaded when it is first shown.
 *
 * @param load imports it
 */
export function lazyPart<Props extends { readonly notify: Notify }>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  return function LazyPart(props: Props) {
    const [Part, setPart] = useState<ComponentType<Props> | null>(null);
    useEffect(() => {
      load().then(
        (loaded) => setPart(() => loaded),
        () => props.notify(problem('This part of the page could not be loaded.')),
      );
    }, []);
    // The file has another name after an upgrade of the server: only the whole page knows it then.
    return Part === null ? (
      <Loading retry={() => location.reload()} notify={props.notify} />
    ) : (
      <Part {...props} />
    );
  };
}
