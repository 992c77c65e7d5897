import { useCallback, useEffect, useRef } from 'preact/hooks';
import { GatehouseProblem, ServerUnreachable } from '../../../packages/client/api/problem.js';
import { requiresSignIn } from '../i18n/failure.js';
import { failure, type Notice, type NoticeUpdate } from './notice.js';

const FIRST_PAUSE_MS = 2000;
const MAX_PAUSE_MS = 30_000;

interface ReloadOptions {
  readonly notify: NoticeUpdate;
  /** Receives a failure that only a new sign-in can fix. Default: `notify` */
  readonly endSession?: ((notice: Notice) => void) | undefined;
}

/**
 * Repeats a load that fails during an outage until it succeeds, and then clears its notice.
 *
 * @returns a function that loads now; the same at each rendering
 */
export function useReload(load: () => Promise<void>, options: ReloadOptions): () => void {
  const current = useRef({ load, options });
  current.current = { load, options };
  const state = useRef<ReloadState>({ turn: 0, failures: 0, shown: null });
  const reload = useCallback(() => {
    const own = state.current;
    const turn = (own.turn += 1);
    const { notify, endSession = notify } = current.current.options;
    clearTimeout(own.timer);
    const succeed = () => {
      const past = own.shown;
      Object.assign(own, { failures: 0, shown: null });
      if (past !== null) {
        notify((notice) => (notice === past ? null : notice));
      }
    };
    const fail = (error: unknown) => {
      own.shown = failure(error);
      (requiresSignIn(error) ? endSession : notify)(own.shown);
      if (isOutage(error)) {
        own.timer = setTimeout(reload, pauseMs(error, own.failures));
        own.failures += 1;
      }
    };
    const ifLatest = (act: () => void) => turn === own.turn && act();
    current.current.load().then(
      () => ifLatest(succeed),
      (error: unknown) => ifLatest(() => fail(error)),
    );
  }, []);
  useEffect(
    () => () => {
      clearTimeout(state.current.timer);
      state.current.turn += 1;
    },
    [],
  );
  return reload;
}

interface ReloadState {
  /** Counts the loads: only the last one has a result. */
  turn: number;
  failures: number;
  /** The notice of the last failure; null after a success. */
  shown: Notice | null;
  timer?: ReturnType<typeof setTimeout>;
}

/** Returns true if the same request may succeed later. */
export function isOutage(error: unknown): boolean {
  return error instanceof GatehouseProblem
    ? error.status === 429 || error.status >= 500
    : error instanceof ServerUnreachable;
}

/** Grows with each failure, unless the server names a time. */
function pauseMs(error: unknown, failures: number): number {
  const named = error instanceof GatehouseProblem ? error.retryAfterSeconds : undefined;
  return named === undefined
    ? Math.min(FIRST_PAUSE_MS * 2 ** failures, MAX_PAUSE_MS)
    : Math.max(named * 1000, FIRST_PAUSE_MS);
}
