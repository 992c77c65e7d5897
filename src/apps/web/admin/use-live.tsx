import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { failure, Loading, NoticeLine, type Notice } from '../ui/notice.js';
import { repeatWhileVisible } from '../ui/repeat-while-visible.js';
import { requiresSignIn } from '../i18n/failure.js';
import { useSession } from './session.js';

/** Age at which a value counts as old, because the server hangs or the page was hidden. */
const OLD_MS = 15_000;

export interface Live<Value> {
  /** null until it is loaded. */
  readonly value: Value | null;
  /** The failure of the last read; `value` is then from an earlier one. */
  readonly notice: Notice | null;
  /** True if `value` is at most a few seconds old. */
  readonly isFresh: boolean;
  readonly reload: () => void;
}

interface Known<Value> {
  readonly key: string;
  readonly text: string;
  readonly value: Value;
}

/** @param key identifies the value; a new `read` applies when it changes */
export function useLive<Value>(read: () => Promise<Value>, key: string): Live<Value> {
  const { end } = useSession();
  const [known, setKnown] = useState<Known<Value> | null>(null);
  const [notice, show] = useState<Notice | null>(null);
  const age = useAge();
  const latest = useRef(0);
  const current = useRef(read);
  current.current = read;

  const reload = useCallback(async () => {
    const turn = (latest.current += 1);
    try {
      const value = await current.current();
      const text = JSON.stringify(value);
      if (turn === latest.current) {
        // An unchanged answer keeps the same value, which avoids a render.
        setKnown((last) => (last?.key === key && last.text === text ? last : { key, text, value }));
        show(null);
        age.reset();
      }
    } catch (error) {
      if (turn === latest.current) {
        (requiresSignIn(error) ? end : show)(failure(error));
      }
    }
  }, [key]);

  useEffect(() => {
    const stop = repeatWhileVisible(reload);
    return () => {
      latest.current += 1;
      stop();
    };
  }, [reload]);

  const value = known?.key === key ? known.value : null;
  return { value, notice, isFresh: notice === null && !age.isOld, reload: () => void reload() };
}

function useAge(): { readonly isOld: boolean; readonly reset: () => void } {
  const [isOld, setOld] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const reset = useCallback(() => {
    clearTimeout(timer.current);
    setOld(false);
    timer.current = setTimeout(() => setOld(true), OLD_MS);
  }, []);
  useEffect(() => () => clearTimeout(timer.current), []);
  return { isOld, reset };
}

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
