import { useEffect, useState } from 'preact/hooks';

/** The sections by the fragment of their address: `/app/#security`. */
export const SECTIONS = ['overview', 'devices', 'notifications', 'security'] as const;

export type Section = (typeof SECTIONS)[number];

/** @param hash of an address, with its `#` @returns null if it names no section */
export function sectionIn(hash: string): Section | null {
  return SECTIONS.find((section) => `#${section}` === hash) ?? null;
}

export function useSection(): Section {
  const [section, show] = useState(currentSection);
  useEffect(() => {
    const onChange = () => show(currentSection());
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);
  return section;
}

function currentSection(): Section {
  return sectionIn(location.hash) ?? 'overview';
}
