import { Loading } from '../ui/notice.js';
import type { Live } from './use-live.js';

/** In place of what is not read yet; nothing where reading failed, which its notice says. */
export function Skeleton({ live }: { readonly live: Live<unknown> }) {
  return live.notice === null ? <Loading retry={live.reload} /> : null;
}
