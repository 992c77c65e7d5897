import type { ResealProgress } from '../../../server/storage/sealing/reseal.js';
import { command } from '../command.js';
import { EXIT } from '../cli-error.js';
import { WITH_DATABASE } from '../options.js';

const NAMES = {
  'account-settings': 'account settings',
  'account-credentials': 'credentials of connected services',
  'identity-credentials': 'credentials of identities',
  'agent-request': 'requests of programs',
  'program-grant': 'grants of programs',
  'signing-key': 'signing keys',
} as const satisfies Record<ResealProgress['purpose'], string>;

export const reseal = command({
  name: 'reseal',
  description: 'seal again what was sealed with SERVICE_MASTER_SECRET_PREVIOUS',
  options: [
    ['--seal-plain', 'also seal content that was stored as plain while the setting was none'],
  ],
  help: `
Servers refuse plain content where the setting is server_sealed: without the option it is reported, because
anyone who can write to the database could have put it there.
Servers can run meanwhile; the command can be interrupted and started again at any time.
Docs: docs/upgrade.md, Rotating the master secret.
${WITH_DATABASE}`,
  examples: ['gatehouse reseal', 'gatehouse reseal --seal-plain'],
  async run(context) {
    const { output, options } = context;
    const { withReseal } = await import('./database.js');
    const { results, refused } = await withReseal(
      context,
      options.sealPlain === true,
      async (values) => ({
        results: await values.run((progress) => output.note(describe(progress))),
        refused: await values.countRefused(),
      }),
    );
    for (const result of results) {
      output.result(result, describe(result));
    }
    const unreadable = results.reduce((sum, result) => sum + result.unreadable, 0);
    if (unreadable > 0) {
      output.note(
        `${unreadable} values were sealed with another master secret: add it to ` +
          'SERVICE_MASTER_SECRET_PREVIOUS and run this again.',
      );
    }
    if (refused > 0) {
      output.note(
        `${refused} values are stored as plain, and servers refuse to read them: if the setting was ` +
          'none until now, seal them with --seal-plain.',
      );
    }
    if (unreadable + refused > 0) {
      return EXIT.refused;
    }
    output.note('Everything is sealed with the current master secret.');
    return EXIT.ok;
  },
});

function describe({ purpose, renewed, unreadable, total }: ResealProgress): string {
  const failed = unreadable === 0 ? '' : `, ${unreadable} unreadable`;
  return `${NAMES[purpose]}: ${renewed} of ${total}${failed}`;
}
