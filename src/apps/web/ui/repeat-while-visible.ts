const PERIOD_MS = 5000;

/**
 * Works now, then some seconds after each end, and at once when a hidden page is shown again.
 *
 * @returns a function that stops it
 */
export function repeatWhileVisible(work: () => Promise<void>): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const tick = () => {
    clearTimeout(timer);
    if (document.visibilityState === 'visible') {
      void work().finally(() => {
        clearTimeout(timer);
        timer = isOver ? undefined : setTimeout(tick, PERIOD_MS);
      });
    }
  };
  tick();
  document.addEventListener('visibilitychange', tick);
  return () => {
    isOver = true;
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', tick);
  };
}
