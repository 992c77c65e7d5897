import { useState } from 'preact/hooks';

const STORAGE_KEY = 'gatehouse.dismissed-findings';
/** Findings that the storage keeps, the newest ones. */
const MAX_KEPT = 200;

export interface Dismissed {
  readonly has: (content: string) => boolean;
  readonly dismiss: (content: string) => void;
  readonly restore: () => void;
}

/** Reads what this browser has dismissed, by content: a finding that changes is shown again. */
export function useDismissed(): Dismissed {
  const [contents, setContents] = useState(read);
  const store = (next: readonly string[]) => {
    setContents(next);
    try {
      localStorage.setItem(STORAGE_KEY, JSON.stringify(next));
    } catch {
      // Without storage it lasts until the page is left.
    }
  };
  return {
    has: (content) => contents.includes(content),
    dismiss: (content) => store([...contents, content].slice(-MAX_KEPT)),
    restore: () => store([]),
  };
}

function read(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '[]');
    return Array.isArray(kept) ? kept.filter((one) => typeof one === 'string') : [];
  } catch {
    return [];
  }
}
