import * as v from 'valibot';
import type { AccountProfile, LoginAnswer, ServerFeatures } from './api/api-client-answers.js';
import { GatehouseProblem } from './api/problem.js';

/**
 * The methods of a server from before `GET /v1/features`, which has the login with a device key alone
 * (specification, Versioning 3).
 */
export const FEATURES_BEFORE_DISCOVERY: ServerFeatures = {
  capabilities: {
    auth: {
      methods: [
        { method: 'key_challenge', action: 'login', mode: 'keyed' },
        { method: 'key_challenge', action: 'provision', mode: 'keyed' },
      ],
      providers: {},
    },
  },
};

/** `{success, token}`, the answer of an older server, and that of a newer one. */
export const olderLogin = v.object({
  token: v.string(),
  accountId: v.optional(v.string()),
  created: v.optional(v.boolean()),
});
export type OlderLoginAnswer = v.InferOutput<typeof olderLogin>;

/**
 * Adds the ID of the account that an older server does not send with its token. It is the one of the
 * profile, or else the public key, by which such a server knows the account.
 */
export async function completeLogin(
  answer: OlderLoginAnswer,
  publicKey: string,
  readProfile: () => Promise<Pick<AccountProfile, 'id'>>,
): Promise<LoginAnswer> {
  const accountId = answer.accountId ?? (await idOf(readProfile)) ?? publicKey;
  return { created: false, ...answer, accountId };
}

async function idOf(readProfile: () => Promise<Pick<AccountProfile, 'id'>>) {
  try {
    return (await readProfile()).id;
  } catch (error) {
    const isOther =
      error instanceof GatehouseProblem &&
      (error.status === 404 || (error.code === 'unexpected-answer' && !error.isTemporary));
    if (isOther) {
      return null;
    }
    throw error;
  }
}

/** Older profiles have no identities. */
export const olderProfile = v.object({ id: v.string() });
