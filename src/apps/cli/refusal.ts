import type { AccountProfile } from '../../packages/client/api/api-client-answers.js';
import { GatehouseClient } from '../../packages/client/api/api-client.js';
import { refusalReasonMessage } from '../../packages/client/refusal-reasons.js';
import { requireServer, requireToken, type ServerContext } from './account/current-session.js';
import type { Failure } from './failure.js';
import { serverFetch } from './server-fetch.js';

/** The failure is printed without these facts if the server does not answer in time. */
const TIMEOUT_MS = 3_000;

/** Adds the reason, the account and who can help to the refusal of a person. */
export async function explainRefusal(failure: Failure, context: ServerContext): Promise<Failure> {
  const named = await requireServer(context).catch(() => null);
  if (named === null) {
    return failure;
  }
  const { server } = named;
  const client = new GatehouseClient({
    serverUrl: server,
    fetch: serverFetch,
    timeoutMs: TIMEOUT_MS,
  });
  const [features, profile] = await Promise.all([
    client.features().catch(() => null),
    // A refusal of the server about a session; that of a login names its account itself.
    failure.status === undefined ? null : ownProfile(context, client),
  ]);
  const { auth, server: about } = features?.capabilities ?? {};
  const { provider = '' } = failure;
  const { accountId = profile?.id, reason = reasonIn(profile, provider) } = failure;
  const name = auth?.providers?.[provider]?.displayName ?? provider;
  const support = about?.support;
  const sentence = refusalReasonMessage(reason ?? null, name || 'the identity provider');
  const lines = [
    ...(sentence === null ? [] : [sentence]),
    ...(failure.hint === undefined ? [] : [failure.hint]),
    ...(accountId === undefined ? [] : [`Account ID: ${accountId}`]),
    ...(support === undefined ? [] : [`Who can help: ${support.replace(/^mailto:/i, '')}`]),
  ];
  return {
    ...failure,
    message: failure.message.replace(provider, () => name),
    ...(lines.length > 0 && { hint: lines.join('\n  ') }),
    ...(accountId !== undefined && { accountId }),
    ...(reason !== undefined && { reason }),
    ...(support !== undefined && { support }),
  };
}

/** Returns null without a session, and for a session that has ended. */
async function ownProfile(
  context: ServerContext,
  client: GatehouseClient,
): Promise<AccountProfile | null> {
  try {
    const { token } = await requireToken(context);
    return await client.withToken(token).profile();
  } catch {
    return null;
  }
}

function reasonIn(profile: AccountProfile | null, provider: string): string | undefined {
  const identity = profile?.identities.find((one) => one.provider === provider);
  return identity?.eligibility.reason ?? undefined;
}
