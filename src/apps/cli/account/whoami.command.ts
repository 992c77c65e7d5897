import type { AccountProfile } from '../../../packages/client/api/api-client-answers.js';
import { command } from '../command.js';
import { SERVER } from '../options.js';
import { formatMinute } from '../output.js';

export const whoami = command({
  name: 'whoami',
  description: 'show the account',
  options: [SERVER],
  examples: ['gatehouse whoami', 'gatehouse whoami --json'],
  async run(context) {
    const { requireToken } = await import('./current-session.js');
    const { server, client } = await requireToken(context);
    const profile = await client.profile();
    context.output.result({ server, ...profile }, describe(server, profile));
  },
});

function describe(server: string, profile: AccountProfile): string {
  const { id, createdAt, keyMode, encryptionMode, identities } = profile;
  const linked = identities.map(
    ({ provider, login, eligibility }) =>
      `  ${provider}  ${login ?? '(no name)'}  ${eligibility.status}`,
  );
  return [
    `Account     ${id}`,
    `Server      ${server}`,
    `Created     ${formatMinute(createdAt)}`,
    `Sign-in     ${keyMode === 'keyed' ? 'device key' : 'identity provider, no device key'}`,
    `Content     ${encryptionMode === 'e2ee' ? 'end-to-end encrypted' : 'readable by the server'}`,
    linked.length === 0 ? 'Identities  none connected' : 'Identities',
    ...linked,
  ].join('\n');
}
