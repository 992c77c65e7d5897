import { useEffect, useState } from 'preact/hooks';

/** The parts of the console, by the beginning of their fragment: `/admin/#audit?actor=alice`. */
export const SECTIONS = ['overview', 'accounts', 'invitations', 'audit', 'policy'] as const;

export type Section = (typeof SECTIONS)[number];

export interface Route {
  readonly section: Section;
  /** Of one account; null = the section itself. */
  readonly accountId: string | null;
  readonly filter: Filter;
}

/** What a list is narrowed by; a name that is absent does not narrow it. */
export type Filter = Readonly<Record<string, string>>;

const ROUTE = /^#(\w+)(?:\/([\da-f-]{36}))?(?:\?(.*))?$/;

/** @param hash of an address, with its `#`; one that names nothing is the overview */
export function readRoute(hash: string): Route {
  const [, name, accountId = null, query = ''] = ROUTE.exec(hash) ?? [];
  const section = SECTIONS.find((one) => one === name) ?? 'overview';
  const filter = Object.fromEntries(new URLSearchParams(query));
  return { section, accountId: section === 'accounts' ? accountId : null, filter };
}

/** @returns the address of a list within this page */
export function listAddress(section: Section, filter: Filter): string {
  const given = Object.entries(filter).filter(([, value]) => value !== '');
  const query = new URLSearchParams(given).toString();
  return query === '' ? `#${section}` : `#${section}?${query}`;
}

/** @returns the address of an account within this page */
export function accountAddress(id: string): string {
  return `#accounts/${id}`;
}

/** What the address names; back and forward change it. */
export function useRoute(): Route {
  const [route, show] = useState(() => readRoute(location.hash));
  useEffect(() => {
    const onChange = () => show(readRoute(location.hash));
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);
  return route;
}

/** What was typed or chosen in a field of a form; '' = nothing. */
export function textOf(values: FormData, name: string): string {
  const value = values.get(name);
  return typeof value === 'string' ? value.trim() : '';
}
