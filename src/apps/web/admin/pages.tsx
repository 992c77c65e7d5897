import { useState } from 'preact/hooks';
import { useLive, type Live } from './use-live.js';
import { texts } from './i18n/texts.js';
import { Button } from '../ui/button.js';

/** Limit of empty pages to skip: with several filters the server may return many. */
const MAX_SKIPPED = 20;

interface Page<Row> {
  readonly rows: readonly Row[];
  /** null = the last page. */
  readonly cursor: string | null;
  /** Rows on all pages, where the server counts them. */
  readonly total?: number;
}

export interface Pages<Row> {
  readonly live: Live<Page<Row>>;
  readonly isFirst: boolean;
  readonly previous: () => void;
  readonly next: () => void;
}

/**
 * @param read reads the page of a cursor; undefined = the first
 * @param key identifies the list: a new one begins with its first page
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

export function PageButtons<Row>({ pages }: { readonly pages: Pages<Row> }) {
  const { live, isFirst, previous, next } = pages;
  const isLast = live.value?.cursor === null;
  if (isFirst && isLast) {
    return null;
  }
  return (
    <div class="row end">
      <Button disabled={isFirst} onClick={previous} icon="back" text={texts.pages.previous} />
      <Button disabled={isLast || live.value === null} onClick={next} text={texts.pages.next} />
    </div>
  );
}
