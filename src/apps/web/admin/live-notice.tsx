import { Loading, NoticeLine, type Notice } from '../ui/notice.js';
import type { Live } from './use-live.js';

interface LiveNoticeProps {
  readonly live: Live<unknown>;
  /** The result of the last action, which a failure to read replaces. */
  readonly notice?: Notice | null;
}

/** The failure to read a value; until the first answer, its placeholder. */
export function LiveNotice({ live, notice = null }: LiveNoticeProps) {
  return (
    <>
      <NoticeLine notice={live.notice ?? notice} />
      {live.value === null && live.notice === null && <Loading retry={live.reload} />}
    </>
  );
}
