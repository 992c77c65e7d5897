import { useHash } from '../ui/use-events.js';

/**
 * The sections by the fragment of their address: `/app/#security`. Not every server has the last one,
 * so that no other moves while it is asked.
 */
export const SECTIONS = ['overview', 'devices', 'notifications', 'security', 'requests'] as const;

export type Section = (typeof SECTIONS)[number];

/** @param hash of an address, with its `#`; a page of the section may follow @returns null if it names none */
export function sectionIn(hash: string): Section | null {
  const [name] = hash.split('/');
  return SECTIONS.find((section) => `#${section}` === name) ?? null;
}

export function useSection(): Section {
  return useHash((hash) => sectionIn(hash) ?? 'overview');
}
