import { useEffect, useRef, useState } from 'preact/hooks';
import type {
  RequestRoutes,
  StoredRequest,
} from '../../../../packages/client/approvals/request-routes.js';
import {
  openRequest,
  type ShownableRequest,
  type UnopenedRequest,
} from '../../../../packages/client/approvals/answer-request.js';
import { clientFor, isKnownServer, serverUrl } from '../../server.js';
import { useReload } from '../../ui/use-reload.js';
import type { Account, AccountActions } from '../use-account.js';
import type { AnswerKeys } from './answer-keys.js';
import { useReloadAtExpiry } from './waiting-requests.js';

/** The answer that this page sent; `earlier` where the server had taken one before. */
type SentChoice = 'allow' | 'deny' | 'answer' | 'earlier';

/** The end of a request, as this page knows it. */
export type RequestEnd =
  /** Answered here; `taken` once the computer closed the request with an answer. */
  | { readonly kind: 'sent' | 'taken'; readonly choice: SentChoice }
  | { readonly kind: 'answered' | 'withdrawn' | 'expired' };

/** A request of the list. It keeps its place until the list is opened again. */
export interface RequestItem {
  readonly id: string;
  readonly found: ShownableRequest | UnopenedRequest;
  /** null while it waits. */
  readonly end: RequestEnd | null;
}

export interface Requests {
  /** null while they are loading. */
  readonly items: readonly RequestItem[] | null;
  /** The clock of the server, which judges the expiry: that of this device may be wrong. */
  readonly serverNow: () => number;
  readonly reload: () => void;
  readonly noteSent: (id: string, choice: SentChoice) => void;
}

/**
 * Loads the open requests, the newest first. While the list is looked at, a request that ends keeps its
 * place and a new one is added at the end, so that no other one moves under a thumb.
 *
 * @param keys undefined while they are loading
 */
export function useRequests(
  account: Account,
  keys: AnswerKeys | null | undefined,
  { session, endSession, notify }: Pick<AccountActions, 'session' | 'endSession' | 'notify'>,
): Requests {
  const [items, setItems] = useState<readonly RequestItem[] | null>(null);
  const known = useRef<readonly RequestItem[]>([]);
  const latest = useRef(0);
  const isReturning = useReturning();
  const offsetMs = useServerOffset();
  const show = (next: readonly RequestItem[]) => {
    known.current = next;
    setItems(next);
  };
  const load = async () => {
    if (keys === undefined) {
      return;
    }
    const turn = (latest.current += 1);
    const { requests } = clientFor(session.token);
    const wasReturning = isReturning.current;
    const next = await nextItems(requests, known.current, keys, wasReturning);
    if (turn === latest.current) {
      // A person who left while it was loading has not seen it.
      isReturning.current = isAway() || (isReturning.current && !wasReturning);
      // An answer may have been sent meanwhile.
      show(next.map((item) => ({ ...item, end: item.end ?? endOf(known.current, item.id) })));
    }
  };
  const reload = useReload(load, { notify, endSession });
  useEffect(reload, [account, session.token, keys]);
  const waiting = (items ?? []).filter((item) => !isEnded(item));
  const ends = waiting.flatMap(({ found: { stored } }) => (stored ? [stored.expiresAt] : []));
  useReloadAtExpiry(ends, offsetMs, reload);
  const noteSent: Requests['noteSent'] = (id, choice) => {
    const end = { kind: 'sent', choice } as const;
    show(known.current.map((item) => (item.id === id ? { ...item, end } : item)));
  };
  return { items, reload, noteSent, serverNow: () => Date.now() + offsetMs };
}

/** True until the list is shown to a person who comes to the page, or comes back to it or online. */
function useReturning() {
  const isReturning = useRef(true);
  useEffect(() => {
    const leave = () => {
      isReturning.current ||= isAway();
    };
    addEventListener('offline', leave);
    document.addEventListener('visibilitychange', leave);
    return () => {
      removeEventListener('offline', leave);
      document.removeEventListener('visibilitychange', leave);
    };
  }, []);
  return isReturning;
}

function isAway(): boolean {
  return document.hidden || !navigator.onLine;
}

/** Returns the milliseconds by which the clock of the server is ahead; 0 until it is known. */
function useServerOffset(): number {
  const [offsetMs, setOffset] = useState(0);
  useEffect(() => {
    const read = async () => {
      const { headers } = await fetch(`${serverUrl()}/v1/features`, { method: 'HEAD' });
      const serverMs = Date.parse(headers.get('date') ?? '');
      setOffset(Number.isNaN(serverMs) ? 0 : serverMs - Date.now());
    };
    read().catch(() => undefined);
  }, []);
  return offsetMs;
}

/** @param isReturning true if open requests come before those that were listed before */
async function nextItems(
  routes: RequestRoutes,
  before: readonly RequestItem[],
  keys: AnswerKeys | null,
  isReturning: boolean,
): Promise<RequestItem[]> {
  const open = (await routes.list()).map(({ id }) => id).reverse();
  const listed = before.map(({ id }) => id);
  const ids = isReturning ? [...open, ...listed] : [...listed, ...open];
  const items: RequestItem[] = [];
  for (const id of new Set(ids)) {
    const old = before.find((item) => item.id === id);
    items.push(await nextItem(routes, id, old, open.includes(id), keys));
  }
  return items;
}

async function nextItem(
  routes: RequestRoutes,
  id: string,
  old: RequestItem | undefined,
  isOpen: boolean,
  keys: AnswerKeys | null,
): Promise<RequestItem> {
  if (old !== undefined && (isOpen ? isSettled(old, keys) : isEnded(old))) {
    return old;
  }
  const requests = keys?.requests ?? null;
  const found = await openRequest(routes, id, { requests, isKnownServer });
  return found.kind === 'closed'
    ? { id, found: old?.found ?? found, end: endedAs(found.stored, old?.end ?? null) }
    : { id, found, end: old?.end ?? null };
}

/** True for a request that needs no other reading: it is open, and was opened with these keys. */
function isSettled({ found }: RequestItem, keys: AnswerKeys | null): boolean {
  return found.kind === 'opened' || (found.kind === 'no-key' && keys === null);
}

function isEnded({ end }: RequestItem): boolean {
  return end !== null && end.kind !== 'sent';
}

function endedAs(stored: StoredRequest | null, before: RequestEnd | null): RequestEnd {
  const state = stored?.state ?? 'expired';
  if (state === 'answered' && before?.kind === 'sent') {
    return { kind: 'taken', choice: before.choice };
  }
  return { kind: state === 'open' ? 'expired' : state };
}

function endOf(items: readonly RequestItem[], id: string): RequestEnd | null {
  return items.find((item) => item.id === id)?.end ?? null;
}
