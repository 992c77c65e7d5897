import type { KeyObject } from 'node:crypto';
import * as v from 'valibot';
import { parseJson } from '../../../common/parse-json.js';
import { readClientKeys } from './client-keys.js';
import { insecureFailure } from './entry-schema.js';

const DEFAULT_TOKEN_URI = 'https://oauth2.googleapis.com/token';

const KEY_FILE = v.object({
  type: v.literal('service_account'),
  client_email: v.pipe(v.string(), v.nonEmpty()),
  private_key: v.string(),
  private_key_id: v.optional(v.string()),
  token_uri: v.optional(v.pipe(v.string(), v.url()), DEFAULT_TOKEN_URI),
});

export interface ServiceAccountKey {
  readonly clientEmail: string;
  readonly keyId: string | null;
  readonly privateKey: KeyObject;
  /** The endpoint that exchanges an assertion for an access token, and its audience. */
  readonly tokenUri: string;
}

/** Google's console creates the file. @throws Error as {@link readBearerTokens} */
export function readServiceAccountKey(text: string): ServiceAccountKey {
  const parsed = v.safeParse(KEY_FILE, parseJson(text));
  if (!parsed.success) {
    throw new Error(
      'is not the JSON key of a service account (type service_account, with client_email and private_key)',
    );
  }
  const { client_email: clientEmail, private_key_id: keyId = null } = parsed.output;
  const { private_key: pem, token_uri: tokenUri } = parsed.output;
  if (insecureFailure(new URL(tokenUri)) !== null) {
    throw new Error('has a token_uri that is not https');
  }
  const [{ privateKey, algorithms }] = readClientKeys(pem);
  if (!algorithms.includes('RS256')) {
    throw new Error('has a private key that is not RSA');
  }
  return { clientEmail, keyId, privateKey, tokenUri };
}
