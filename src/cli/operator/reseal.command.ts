import type { ResealProgress } from '../../storage/sealing/reseal.js';
import { command } from '../command.js';
import { EXIT } from '../cli-error.js';
import { WITH_DATABASE } from '../options.js';

const NAMES = {
  'account-settings': 'account settings',
  'account-credentials': 'credentials of connected services',
  'identity-credentials': 'credentials of identities',
} as const satisfies Record<ResealProgress['purpose'], string>;

/** Seals all stored values with the current master secret, while servers run. */
export const reseal = command({
  name: 'reseal',
  description: 'seal again what was sealed with SERVICE_MASTER_SECRET_PREVIOUS',
  help: `
Runs beside running servers; it can be interrupted and started again at any time.
Docs: docs/upgrade.md, Rotating the master secret.
${WITH_DATABASE}`,
  async run(context) {
    const { output } = context;
    const { withReseal } = await import('./database.js');
    const results = await withReseal(context, (values) =>
      values.run((progress) => output.note(describe(progress))),
    );
    for (const result of results) {
      output.result(result, describe(result));
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
  },
});

function describe({ purpose, renewed, unreadable, total }: ResealProgress): string {
  const failed = unreadable === 0 ? '' : `, ${unreadable} unreadable`;
  return `${NAMES[purpose]}: ${renewed} of ${total}${failed}`;
}
