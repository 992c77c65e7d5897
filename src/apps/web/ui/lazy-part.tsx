import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Loading } from './notice.js';

/**
 * Loads a component when it is first shown, and the texts of its file, if that exports `loadTexts`.
 *
 * @param load imports the file
 * @param name of the component in it
 */
export function lazyPart<Part extends object, Name extends keyof Part>(
  load: () => Promise<Part & { readonly loadTexts?: () => Promise<void> }>,
  name: Name,
): Part[Name] {
  let known: ComponentType | null = null;
  function LazyPart(props: object) {
    const [Shown, show] = useState<ComponentType | null>(() => known);
    useEffect(() => {
      const open = async () => {
        const part = await load();
        await part.loadTexts?.();
        known = part[name] as ComponentType;
        show(() => known);
      };
      open().catch(() => undefined);
    }, []);
    // After an upgrade of the server, only a reload of the page finds the file's new name.
    return Shown === null ? <Loading retry={() => location.reload()} /> : <Shown {...props} />;
  }
  return LazyPart as Part[Name];
}
