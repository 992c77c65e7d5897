import type { CliContext } from '../context.js';
import { EXIT } from '../exit-codes.js';
import { withReseal } from '../reseal-database.js';
import type { ResealProgress } from '../../storage/reseal.js';

const NAMES = {
  'account-settings': 'account settings',
  'account-credentials': 'credentials of connected services',
  'identity-credentials': 'credentials of identities',
} as const satisfies Record<ResealProgress['purpose'], string>;

/** Renews what this server sealed under the current master secret, beside running servers. */
export function run(context: CliContext): Promise<number> {
  const { output } = context;
  return withReseal(context, async (reseal) => {
    const results = await reseal.run((progress) => output.note(wordsOf(progress)));
    for (const result of results) {
      output.result(result, wordsOf(result));
    }
    const unreadable = results.reduce((sum, result) => sum + result.unreadable, 0);
    if (unreadable === 0) {
      output.note('Everything is sealed with the current master secret.');
      return EXIT.ok;
    }
    output.note(
      `${unreadable} values were sealed with another master secret: add it to ` +
        'SERVICE_MASTER_SECRET_PREVIOUS and run this again.',
    );
    return EXIT.refused;
  });
}

function wordsOf({ purpose, renewed, unreadable, total }: ResealProgress): string {
  const left = unreadable === 0 ? '' : `, ${unreadable} unreadable`;
  return `${NAMES[purpose]}: ${renewed} of ${total}${left}`;
}
