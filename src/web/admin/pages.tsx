import { useState } from 'preact/hooks';
import { Icon } from '../ui/icon.js';
import { useLive, type Live } from './use-live.js';
import { texts } from './words/texts.js';

/** Empty pages that are skipped at once: with several filters the server may find none for a while. */
const MAX_SKIPPED = 20;

interface Page<Row> {
  readonly rows: readonly Row[];
  /** null = the last page. */
  readonly cursor: string | null;
}

export interface Pages<Row> {
  readonly live: Live<Page<Row>>;
  /** Whether this is the first page. */
  readonly isFirst: boolean;
  readonly previous: () => void;
  readonly next: () => void;
}

/**
 * One page of a list, read again as long as it is shown.
 *
 * @param read the page behind a cursor; undefined = the first
 * @param key names the list: another one begins with its first page
 */
export function usePages<Row>(
  read: (cursor: string | undefined) => Promise<Page<Row>>,
  key: string,
): Pages<Row> {
  const [visited, visit] = useState<readonly string[]>([]);
  const cursor = visited.at(-1);
  const live = useLive(() => firstWithRows(read, cursor), `${key} ${cursor}`);
  const following = live.value?.cursor ?? null;
  return {
    live,
    isFirst: visited.length === 0,
    previous: () => visit(visited.slice(0, -1)),
    next: () => following !== null && visit([...visited, following]),
  };
}

async function firstWithRows<Row>(
  read: (cursor: string | undefined) => Promise<Page<Row>>,
  cursor: string | undefined,
): Promise<Page<Row>> {
  let page = await read(cursor);
  for (let skipped = 0; skipped < MAX_SKIPPED; skipped += 1) {
    if (page.rows.length > 0 || page.cursor === null) {
      break;
    }
    page = await read(page.cursor);
  }
  return page;
}

/** Nothing where the list has one page. */
export function PageButtons<Row>({ pages }: { readonly pages: Pages<Row> }) {
  const { live, isFirst, previous, next } = pages;
  const isLast = live.value?.cursor === null;
  if (isFirst && isLast) {
    return null;
  }
  return (
    <div class="row end">
      <button type="button" disabled={isFirst} onClick={previous}>
        <Icon name="back" />
        {texts.pages.previous}
      </button>
      <button type="button" disabled={isLast || live.value === null} onClick={next}>
        {texts.pages.next}
      </button>
    </div>
  );
}
