import type { AccountProfile } from '../../client/api-client-answers.js';
import type { CliContext } from '../context.js';
import { requireSession } from '../current-session.js';
import { EXIT } from '../exit-codes.js';
import { formatTime } from '../format-time.js';

/** Shows the account as the server sees it now. */
export async function run(context: CliContext): Promise<number> {
  const { session, client } = await requireSession(context);
  const profile = await client.profile();
  context.output.result({ server: session.server, ...profile }, describe(session.server, profile));
  return EXIT.ok;
}

function describe(server: string, profile: AccountProfile): string {
  const { id, createdAt, keyMode, encryptionMode, identities } = profile;
  const linked = identities.map(
    ({ provider, login, eligibility }) =>
      `  ${provider}  ${login ?? '(no name)'}  ${eligibility.status}`,
  );
  return [
    `Account     ${id}`,
    `Server      ${server}`,
    `Created     ${formatTime(createdAt)}`,
    `Login       ${keyMode === 'keyed' ? 'device key' : 'identity provider, no device key'}`,
    `Content     ${encryptionMode === 'e2ee' ? 'end-to-end encrypted' : 'readable by the server'}`,
    linked.length === 0 ? 'Identities  none connected' : 'Identities',
    ...linked,
  ].join('\n');
}
