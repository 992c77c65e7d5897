import { calculateJwkThumbprint, importPKCS8, type JWK } from 'jose';
import {
  ClientSecretPost,
  modifyAssertion,
  PrivateKeyJwt,
  type ClientAuth,
  type ServerMetadata,
} from 'openid-client';
import type { Clock } from '../../../common/runtime/clock.js';
import { UpstreamError } from '../http/upstream-http.js';
import { SecretFile } from '../../config/environment/secret-file.js';
import { oneLine } from '../../config/environment/small-file.js';
import { readClientKeys, type ClientKey } from '../../config/providers-file/client-keys.js';
import {
  TOKEN_ENDPOINT_AUTH_METHODS,
  type OidcProviderSettings,
  type TokenEndpointAuthMethod,
} from '../../config/providers-file/provider-settings.js';

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

type Keys = readonly [ClientKey, ...ClientKey[]];

/**
 * Uses the client secret, a signed assertion (`private_key_jwt`, RFC 7523), or one from a file that
 * another program maintains, such as a Kubernetes token. Files are read again on use.
 */
export class ClientAuthentication {
  private readonly secret: SecretFile<string> | null;
  private readonly keys: SecretFile<Keys | null> | null;
  private readonly assertion: SecretFile<string> | null;
  /** The method that a provider with both refused last; null = none. */
  private refused: TokenEndpointAuthMethod | null = null;

  constructor(
    private readonly settings: OidcProviderSettings,
    clock: Clock,
  ) {
    const { clientSecret, clientSecretFile, clientKeyFile, clientAssertionFile } = settings;
    this.secret =
      clientSecret === null ? null : new SecretFile(clock, clientSecret, clientSecretFile, oneLine);
    this.keys =
      clientKeyFile === null
        ? null
        : new SecretFile<Keys | null>(clock, null, clientKeyFile, readClientKeys);
    this.assertion =
      clientAssertionFile === null
        ? null
        : new SecretFile(clock, '', clientAssertionFile, (text) => oneLine(text).trim());
  }

  async method(metadata: ServerMetadata): Promise<ClientAuth> {
    if (this.keys !== null) {
      return this.signed(await this.keys.current(), metadata);
    }
    if (this.assertion !== null) {
      return assertionOf(await this.assertion.current());
    }
    return clientSecretAuth(this.secretMethod(metadata), (await this.secret?.current()) ?? '');
  }

  /**
   * Providers that list both often read Basic credentials without the percent-encoding of RFC 6749,
   * 2.3.1, and some accept from a client only the one that it is registered with.
   * @returns true if the request may be sent once more, with the other method
   */
  usesOtherAfterRefusal(metadata: ServerMetadata): boolean {
    const isChosen = this.secret === null || this.settings.tokenEndpointAuthMethod !== null;
    if (isChosen || !listsBoth(metadata)) {
      return false;
    }
    this.refused = this.secretMethod(metadata);
    return true;
  }

  private secretMethod(metadata: ServerMetadata): TokenEndpointAuthMethod {
    const { tokenEndpointAuthMethod } = this.settings;
    // Basic is the default of Discovery 1.0.
    const { token_endpoint_auth_methods_supported: listed = ['client_secret_basic'] } = metadata;
    const isBasic = listsBoth(metadata)
      ? this.refused === 'client_secret_post'
      : listed.includes('client_secret_basic');
    return tokenEndpointAuthMethod ?? (isBasic ? 'client_secret_basic' : 'client_secret_post');
  }

  /** Includes keys that do not sign yet or any more. @returns null without keys */
  async publicKeys(): Promise<readonly JWK[] | null> {
    const keys = await this.keys?.current();
    return keys === undefined ? null : Promise.all((keys ?? []).map(publicKeyOf));
  }

  private async signed(keys: Keys | null, metadata: ServerMetadata): Promise<ClientAuth> {
    if (keys === null) {
      throw new UpstreamError('invalid_client', { detail: 'no_client_key' });
    }
    const [{ privateKey, publicJwk, algorithms }] = keys;
    const { token_endpoint_auth_signing_alg_values_supported: listed, token_endpoint } = metadata;
    const alg = algorithms.find((one) => listed?.includes(one)) ?? algorithms[0];
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const key = await importPKCS8(pem, alg);
    const kid = await calculateJwkThumbprint(publicJwk);
    const audience = this.settings.clientAssertionAudience;
    return PrivateKeyJwt(
      { key, kid },
      {
        [modifyAssertion]: (header, claims) => {
          header['alg'] = alg;
          if (audience === 'tokenEndpoint' && token_endpoint !== undefined) {
            claims['aud'] = token_endpoint;
          }
        },
      },
    );
  }
}

export function clientSecretAuth(method: TokenEndpointAuthMethod, secret: string): ClientAuth {
  return method === 'client_secret_post' ? ClientSecretPost(secret) : clientSecretBasic(secret);
}

/**
 * Encodes what a form encodes (RFC 6749, 2.3.1 and B), and no more: openid-client encodes `-`, `_` and
 * `.` as well, which a provider that does not decode takes for another secret.
 */
function clientSecretBasic(secret: string): ClientAuth {
  return (_server, { client_id: clientId }, _body, headers) => {
    const [id, password] = [clientId, secret].map((text) =>
      new URLSearchParams({ '': text }).toString().slice(1),
    );
    headers.set('authorization', `Basic ${Buffer.from(`${id}:${password}`).toString('base64')}`);
  };
}

function listsBoth({ token_endpoint_auth_methods_supported: listed }: ServerMetadata): boolean {
  return TOKEN_ENDPOINT_AUTH_METHODS.every((method) => listed?.includes(method));
}

async function publicKeyOf({ publicJwk, algorithms }: ClientKey): Promise<JWK> {
  const jwk = publicJwk as JWK;
  const kid = await calculateJwkThumbprint(jwk);
  // An RSA key fits two algorithms; the provider determines which one signs.
  return { ...jwk, kid, use: 'sig', ...(algorithms.length === 1 && { alg: algorithms[0] }) };
}

function assertionOf(assertion: string): ClientAuth {
  return (_server, client, body) => {
    body.set('client_id', client.client_id);
    body.set('client_assertion_type', ASSERTION_TYPE);
    body.set('client_assertion', assertion);
  };
}
