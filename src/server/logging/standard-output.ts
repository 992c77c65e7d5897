import { pino, type DestinationStream } from 'pino';

/** Bytes of lines that wait while nothing takes them, as with a reader that stalls. Further lines are dropped. */
const MOST_WAITING = 8 * 1024 * 1024;

/** Standard output for the log. A failure, such as a full disk, costs lines and not the server; the next line tries again. */
export function standardOutput(): DestinationStream {
  const output = pino.destination({ dest: 1, sync: false, maxLength: MOST_WAITING });
  const flushSync = output.flushSync.bind(output);
  // At the exit, the stream would repeat a write that fails without an end.
  output.on('error', () => (output.flushSync = () => undefined));
  output.on('write', () => (output.flushSync = flushSync));
  return output;
}
