import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { loading } from '../server.js';
import { Loading, NoticeLine, type Notice } from './notice.js';
import { useReload } from './use-reload.js';

/** A component that is loaded when it is first shown. */
export type LazyPart<Shown> = Shown & {
  /** Loads it earlier: then it is there at once when it is shown. Rejects with ServerUnreachable. */
  readonly prepare: () => Promise<void>;
};

/**
 * Loads a component when it is first shown, and the texts of its file, if that exports `loadTexts`. A browser whose
 * network changes, as on the way out of a Wi-Fi, fails each file that it loads at that moment: they are loaded again.
 *
 * @param load imports the file
 * @param name of the component in it
 */
export function lazyPart<Part extends object, Name extends keyof Part>(
  load: () => Promise<Part & { readonly loadTexts?: () => Promise<void> }>,
  name: Name,
): LazyPart<Part[Name]> {
  let known: ComponentType | null = null;
  const prepare = async () => {
    const part = await loading(load());
    await loading(Promise.resolve(part.loadTexts?.()));
    known = part[name] as ComponentType;
  };
  function Lazy(props: object) {
    const [Shown, show] = useState<ComponentType | null>(() => known);
    const open = () => prepare().then(() => show(() => known));
    const [notice, notify] = useState<Notice | null>(null);
    const reload = useReload(open, { notify });
    useEffect(reload, []);
    if (Shown !== null) {
      return <Shown {...props} />;
    }
    // After an upgrade of the server, only a reload of the page finds the file's new name. Firefox also remembers
    // a file that failed.
    return (
      <>
        {notice !== null && <NoticeLine notice={notice} />}
        <Loading retry={() => location.reload()} />
      </>
    );
  }
  return Object.assign(Lazy, { prepare }) as LazyPart<Part[Name]>;
}
