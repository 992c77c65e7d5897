interface Shared {
  readonly all: Set<() => void>;
  readonly end: () => void;
}

/** Listeners by their signal, which has one for all of them: Node warns of a leak above ten. */
const listeners = new WeakMap<AbortSignal, Shared>();

/**
 * Calls `listener` once when the signal aborts; not for one that has aborted before.
 *
 * @returns removes the listener
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  const shared = listeners.get(signal) ?? listen(signal);
  shared.all.add(listener);
  return () => {
    if (shared.all.delete(listener) && shared.all.size === 0) {
      // A signal of `AbortSignal.any` with a listener stays in memory as long as its sources.
      signal.removeEventListener('abort', shared.end);
      listeners.delete(signal);
    }
  };
}

function listen(signal: AbortSignal): Shared {
  const all = new Set<() => void>();
  const shared = { all, end: () => [...all].forEach((one) => one()) };
  listeners.set(signal, shared);
  signal.addEventListener('abort', shared.end);
  return shared;
}

/** Returns true if the time passed, false if the signal ended the wait. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<boolean> {
  if (signal?.aborted === true) {
    return Promise.resolve(false);
  }
  return new Promise((resolve) => {
    const end = (isOver: boolean): void => {
      clearTimeout(timer);
      release?.();
      resolve(isOver);
    };
    const timer = setTimeout(() => end(true), ms);
    const release = signal && onAbort(signal, () => end(false));
  });
}
