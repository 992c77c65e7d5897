import { refusedError } from '../cli-error.js';
import { command, type CommandGroup } from '../command.js';
import { ACTOR, REASON, reasonIn, WITH_DATABASE } from '../options.js';

export const keys: CommandGroup = {
  name: 'keys',
  description: 'rotate the keys that sign tokens for backends',
  help: `
Servers rotate them every 90 days by themselves.
Docs: docs/protect-a-backend.md, Rotate the signing keys.
${WITH_DATABASE}`,
  commands: [
    command({
      name: 'rotate',
      description: 'publish new keys, which sign from tomorrow on; with --now at once',
      options: [
        ['--now', 'after a theft: sign with the new keys now, and revoke all others'],
        REASON,
        ACTOR,
      ],
      examples: [
        "gatehouse keys rotate --reason 'yearly rotation'",
        "gatehouse keys rotate --now --reason 'backup stolen'",
      ],
      async run(context) {
        const { options, output } = context;
        const reason = reasonIn(options);
        const { withSealed } = await import('./database.js');
        const { rotateKeys } = await import('./rotate-keys.js');
        const isNow = options.now === true;
        const report = await withSealed(context, (sealed) =>
          rotateKeys(sealed, { isNow, actor: options.actor, reason }),
        );
        if (report === null) {
          throw refusedError(
            'The database has no signing keys: servers make them once a backend is configured.',
            'not-found',
          );
        }
        const { made, signsFrom, servers } = report;
        const when = isNow ? 'now' : `from ${new Date(signsFrom).toISOString()} on`;
        const text =
          made.length === 0
            ? 'New keys were published before, and sign within a day. Use --now after a theft.'
            : [...made.map(({ kid, alg }) => `${alg} ${kid}`), `They sign ${when}.`, servers].join(
                '\n',
              );
        output.result({ keys: made, isNow, reason, servers }, text);
      },
    }),
  ],
};
