import { readFile } from 'node:fs/promises';
import { importJWK, SignJWT, type JWK } from 'jose';
import { decodeSecret } from '../../../common/file-text.js';
import { parseJson } from '../../../common/parse-json.js';
import type { GuardClient, GuardRuntime, GuardSettings } from '../guard-options.js';
import { IssuerFault } from './issuer-http.js';

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const ASSERTION_SECONDS = 60;

/** The parts of a request that authenticate the backend. */
export interface ClientProof {
  readonly headers: Readonly<Record<string, string>>;
  readonly form: Readonly<Record<string, string>>;
}

/** Authenticates the backend. Files are read for each request, so that a change applies at once. */
export class ClientCredentials {
  constructor(
    private readonly settings: Pick<GuardSettings, 'client' | 'issuer'>,
    private readonly runtime: GuardRuntime,
  ) {}

  /** @throws IssuerFault where a file cannot be used */
  async prove(): Promise<ClientProof> {
    const { client } = this.settings;
    if ('secret' in client) {
      return basic(client.id, client.secret);
    }
    if ('secretFile' in client) {
      const [secret = ''] = (await readText(client.secretFile)).split('\n');
      return basic(client.id, secret.trim());
    }
    const assertion =
      'assertionFile' in client
        ? (await readText(client.assertionFile)).trim()
        : await this.sign(client);
    return {
      headers: {},
      form: {
        client_id: client.id,
        client_assertion_type: ASSERTION_TYPE,
        client_assertion: assertion,
      },
    };
  }

  /**
   * An assertion is for one request (RFC 7523, 3). It does not say when it was issued: a clock that
   * is a minute ahead would make it one that is not valid yet.
   */
  private async sign(
    client: Extract<GuardClient, { readonly privateKeyFile: string }>,
  ): Promise<string> {
    const jwk = parseJson(await readText(client.privateKeyFile)) as JWK | undefined;
    const { clock, random } = this.runtime;
    const expiresAt = Math.floor(clock.now() / 1000) + ASSERTION_SECONDS;
    try {
      const { alg = '', kid } = jwk ?? {};
      return await new SignJWT()
        .setProtectedHeader({ alg, ...(kid !== undefined && { kid }) })
        .setIssuer(client.id)
        .setSubject(client.id)
        .setAudience(this.settings.issuer)
        .setExpirationTime(expiresAt)
        .setJti(random.uuid())
        .sign(await importJWK(jwk ?? {}, alg));
    } catch {
      throw new IssuerFault('the private key of the client is not a JWK with an "alg"');
    }
  }
}

/** Both parts are form-encoded before they are joined (RFC 6749, 2.3.1). */
function basic(id: string, secret: string): ClientProof {
  const credentials = [id, secret].map(encodeURIComponent).join(':');
  const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
  return { headers: { authorization }, form: {} };
}

async function readText(path: string): Promise<string> {
  const file = await readFile(path).then(decodeSecret, ({ code = 'unknown' }) => ({
    failure: `cannot be read: ${code}`,
  }));
  if ('failure' in file) {
    throw new IssuerFault(`the file of the client's secret ${file.failure}`);
  }
  return file.text;
}
