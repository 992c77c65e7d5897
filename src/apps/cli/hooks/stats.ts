import type { CliContext } from '../command.js';
import { formatMinute } from '../output.js';
import { RepeatLog } from './repeat-log.js';

/** Prints how often requests for permission repeated on this computer. */
export async function stats({ environment, output }: CliContext): Promise<void> {
  const counts = await new RepeatLog(environment).counts();
  const { requests, since, repeatedInSession, repeatedInEightHours } = counts;
  if (since === null) {
    output.result(counts, 'No hook of this computer asked for permission so far.');
    return;
  }
  const share = (count: number) => `${count} (${Math.round((100 * count) / requests)} %)`;
  output.result(
    counts,
    [
      `Requests for permission since ${formatMinute(since)}: ${requests}`,
      `The same byte for byte, asked before in the session:    ${share(repeatedInSession)}`,
      `The same byte for byte, asked in the eight hours before: ${share(repeatedInEightHours)}`,
    ].join('\n'),
  );
}
