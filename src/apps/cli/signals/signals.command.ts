import { command, type CommandGroup } from '../command.js';
import {
  ADMIN_OPTIONS,
  WITH_ADMINISTRATION,
  withAdministration,
} from '../operator/with-administration.js';
import { ACTOR, REASON, reasonIn, VARIABLES_FILE } from '../options.js';

export const signals: CommandGroup = {
  name: 'signals',
  description:
    'manage the streams of security events, and end refusals of people without an account',
  help: `
Docs: docs/shared-signals.md
`,
  commands: [
    command({
      name: 'connect',
      description: "make a provider's stream at its transmitter, show it, verify it or remove it",
      args: [['<provider>', 'id of an entry with signals.sharedSignals']],
      options: [
        VARIABLES_FILE,
        ['--stream <id>', 'use this stream, which the transmitter has already'],
        ['--show', 'show the stream, and change nothing', { conflicts: ['verify', 'remove'] }],
        ['--verify', 'ask for a verification event, and wait for it', { conflicts: ['remove'] }],
        ['--remove', 'remove the stream here and at the transmitter'],
      ],
      help: `
Uses the variables of the server and DATABASE_URL: run it where the server runs. It needs
managementTokenFile or managementClient in the entry. Without an option it makes the stream, or sets
up again the one that exists, adopts its audience, and waits for a verification event, which a running
server receives. Exits with 1 when the transmitter refuses or no event arrives within 30 seconds, and
with 4 when the transmitter or the database cannot be reached.
`,
      examples: [
        'gatehouse signals connect okta',
        'gatehouse signals connect okta --show',
        'gatehouse signals connect okta --remove',
      ],
      run: async (context) => (await import('./connect-signals.js')).run(context),
    }),
    command({
      name: 'end-refusal',
      description: 'end what a directory or an event refuses a person without an account',
      args: [
        ['<provider>', 'id of the provider'],
        ['<name>', 'subject, external id, user name or e-mail address, as the audit trail has it'],
      ],
      options: [REASON, ACTOR, ...ADMIN_OPTIONS],
      help: `
The rules decide about the next login. A later request or event refuses the person again. For a person
with an account use: gatehouse account enable
${WITH_ADMINISTRATION}`,
      examples: ["gatehouse signals end-refusal okta ada@example.com --reason 'returns in May'"],
      run(context) {
        const [provider = '', name = ''] = context.args;
        const reason = reasonIn(context.options);
        return withAdministration(context, async (administration) => {
          const { changed, actor } = await administration.endRefusal(provider, name, reason);
          context.output.result(
            { provider, name, changed, actor, reason },
            changed
              ? `Ended the refusal of ${name}: the next login at ${provider} is judged by the rules.`
              : `Nothing refuses a person without an account named ${name}.`,
          );
        });
      },
    }),
  ],
};
