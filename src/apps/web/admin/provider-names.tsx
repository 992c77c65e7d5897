import { createContext, type ComponentChildren } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import { texts } from './i18n/texts.js';
import { useSession } from './session.js';

type Names = ReadonlyMap<string, string>;

const NamesContext = createContext<Names>(new Map());

/** Display names of the configured providers by id. The configuration changes with a restart only. */
export function ProviderNames({ children }: { readonly children: ComponentChildren }) {
  const { client } = useSession();
  const [names, setNames] = useState<Names>(new Map());
  useEffect(() => {
    // Without the names, pages show the ids.
    client.providers().then(
      ({ providers }) =>
        setNames(new Map(providers.map(({ id, displayName }) => [id, displayName]))),
      () => undefined,
    );
  }, [client]);
  return <NamesContext.Provider value={names}>{children}</NamesContext.Provider>;
}

/** Returns a function from the id of a provider, or a login method of the server, to its name. */
export function useProviderName(): (id: string) => string {
  const names = useContext(NamesContext);
  const { methods } = texts;
  return (id) =>
    Object.hasOwn(methods, id) ? methods[id as keyof typeof methods] : (names.get(id) ?? id);
}

export function useProviderIds(): readonly string[] {
  return [...useContext(NamesContext).keys()];
}
