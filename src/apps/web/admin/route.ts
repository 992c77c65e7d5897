import { useHash } from '../ui/use-events.js';

/** Sections of the console, by the beginning of their fragment: `/admin/#audit?actor=alice`. */
export const SECTIONS = [
  'overview',
  'accounts',
  'invitations',
  'backends',
  'signals',
  'audit',
  'policy',
] as const;

export type Section = (typeof SECTIONS)[number];

export interface Route {
  readonly section: Section;
  /** The id of the account; null = the section itself. */
  readonly accountId: string | null;
  readonly filter: Filter;
}

/** Filters of a list by name; an absent name does not filter. */
export type Filter = Readonly<Record<string, string>>;

const ROUTE = /^#(\w+)(?:\/([\da-f-]{36}))?(?:\?(.*))?$/;

/** @param hash of an address, with its `#`; an unknown one selects the overview */
function readRoute(hash: string): Route {
  const [, name, accountId = null, query = ''] = ROUTE.exec(hash) ?? [];
  const section = SECTIONS.find((one) => one === name) ?? 'overview';
  const filter = Object.fromEntries(new URLSearchParams(query));
  return { section, accountId: section === 'accounts' ? accountId : null, filter };
}

export function listAddress(section: Section, filter: Filter): string {
  const given = Object.entries(filter).filter(([, value]) => value !== '');
  const query = new URLSearchParams(given).toString();
  return query === '' ? `#${section}` : `#${section}?${query}`;
}

export function accountAddress(id: string): string {
  return `#accounts/${id}`;
}

export function useRoute(): Route {
  return useHash(readRoute);
}
