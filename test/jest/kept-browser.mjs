let kept;

/**
 * Returns the browser of the worker, which its specs use one after the other: a start takes as long as several tests.
 * @param launch starts it for the first of them, and after it was lost
 */
export async function takeBrowser(launch) {
  const running = await kept?.catch(() => undefined);
  if (running?.isConnected() !== true) {
    kept = Promise.resolve(launch());
    process.on('removeListener', endWithWorker);
  }
  return kept;
}

/** Jest ends a worker when it no longer listens to its messages. The browser would keep the worker running. */
function endWithWorker(event) {
  if (event === 'message' && process.listenerCount('message') === 0) {
    process.exit();
  }
}
