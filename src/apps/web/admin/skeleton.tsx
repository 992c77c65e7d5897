import { Loading } from '../ui/notice.js';
import type { Live } from './use-live.js';

/** Placeholder of a value that is loading; empty after a failure, which a notice shows. */
export function Skeleton({ live }: { readonly live: Live<unknown> }) {
  return live.notice === null ? <Loading retry={live.reload} /> : null;
}
