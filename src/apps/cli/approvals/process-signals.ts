const SIGNALS = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 } as const;

/**
 * Runs `work` with a signal that aborts on Ctrl-C and SIGTERM. Resolves to the exit code of `work`; where
 * the signal ended it (null), to that of a process which the signal ended.
 */
export async function untilSignal(
  work: (signal: AbortSignal) => Promise<number | null>,
): Promise<number> {
  const abort = new AbortController();
  let ended = 0;
  const handlers = Object.entries(SIGNALS).map(([name, number]) => {
    const handler = (): void => {
      ended ||= 128 + number;
      abort.abort();
    };
    process.on(name, handler);
    return [name, handler] as const;
  });
  try {
    return (await work(abort.signal)) ?? ended;
  } finally {
    handlers.forEach(([name, handler]) => process.off(name, handler));
  }
}
