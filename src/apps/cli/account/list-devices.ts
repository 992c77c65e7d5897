import type { AccountSession } from '../../../packages/client/api/api-client-answers.js';
import { usageError } from '../cli-error.js';
import type { CliContext } from '../command.js';
import { oneById } from '../one-by-id.js';
import { formatMinute, type Listing } from '../output.js';
import { requireToken } from './current-session.js';
import { describeMethod } from './login-method.js';

type Context = CliContext<{ readonly server?: string }>;

const LISTING: Listing<AccountSession> = {
  fields: [
    ...(['id', 'client', 'method', 'address', 'current'] as const),
    ...(['createdAt', 'lastSeenAt', 'expiresAt'] as const),
  ],
  columns: [
    ['ID', ({ id }) => id.slice(0, 8)],
    ['DEVICE', nameOf],
    ['LAST USED', ({ current, lastSeenAt }) => (current ? 'now, here' : formatMinute(lastSeenAt))],
    ['ADDRESS', ({ address }) => address],
    [
      'SIGNED IN',
      ({ createdAt, method }) => `${formatMinute(createdAt)} ${describeMethod(method)}`,
    ],
  ],
  isCut: true,
  empty: null,
};

export async function listDevices(context: Context): Promise<void> {
  const { client } = await requireToken(context);
  await context.output.list(LISTING, await client.sessions());
}

/** @throws CliError (usage) for the session of this command, which `gatehouse logout` ends with what is stored of it */
export async function endDevice(context: Context): Promise<void> {
  const [begin = ''] = context.args;
  const { client } = await requireToken(context);
  const session = oneById(await client.sessions(), begin, 'device', 'gatehouse devices');
  if (session.current) {
    throw usageError('This is the session of this command.', 'To end it: gatehouse logout');
  }
  await client.endSession(session.id);
  context.output.result(
    { id: session.id, client: session.client, ended: true },
    `Signed ${nameOf(session)} out (${session.id}).`,
  );
}

function nameOf({ client: { name, platform } }: AccountSession): string {
  return name ?? platform ?? 'unnamed';
}
