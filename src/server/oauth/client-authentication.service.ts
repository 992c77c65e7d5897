import { hash, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../common/runtime/clock.js';
import { AppError, invalidRequest } from '../../common/errors.js';
import { SecretFile } from '../config/environment/secret-file.js';
import { parseClientSecrets } from '../config/resource-servers/client-settings.js';
import type { ResourceServerSettings } from '../config/resource-servers/resource-servers-file.js';
import { resourceServersConfig } from '../config/resource-servers/resource-servers.config.js';
import { ClientAssertionService } from './client-assertion.service.js';
import type { ClientAuthenticationForm } from './oauth.dto.js';

const BASIC = /^Basic +([\w+/=-]+) *$/i;

/** How backends authenticate, as metadata names it (RFC 8414, 2). */
export const CLIENT_AUTHENTICATION_METHODS = ['client_secret_basic', 'private_key_jwt'] as const;

/** Authenticates backends by `client_secret_basic` (RFC 6749, 2.3.1) or by an assertion. */
@Injectable()
export class ClientAuthenticationService {
  private readonly clients: ReadonlyMap<
    string,
    { readonly server: ResourceServerSettings; readonly secrets: SecretFile<readonly Buffer[]> }
  >;

  constructor(
    @Inject(resourceServersConfig.KEY) servers: readonly ResourceServerSettings[],
    private readonly assertions: ClientAssertionService,
    clock: Clock,
  ) {
    this.clients = new Map(
      servers.flatMap((server) => {
        const { id, client } = server;
        if (client.method !== 'secret') {
          return [];
        }
        const { secrets, secretFile } = client;
        const file = new SecretFile(clock, secrets.map(digestOf), secretFile, (text) =>
          parseClientSecrets(text).map(digestOf),
        );
        return [[id, { server, secrets: file }] as const];
      }),
    );
  }

  /**
   * Authenticates the client by exactly one method: the header or the fields of the form.
   *
   * @throws AppError `invalid-client`, `invalid-request` for more than one method, or `unavailable`
   *   where the keys of the client cannot be fetched
   */
  async authenticate(
    authorization: string | undefined,
    form: ClientAuthenticationForm,
  ): Promise<ResourceServerSettings> {
    const { client_assertion: assertion, client_assertion_type: type, client_id: id } = form;
    if (assertion === undefined && type === undefined) {
      return this.bySecret(authorization, id);
    }
    if (authorization !== undefined) {
      throw invalidRequest('client_assertion', 'Authenticate by one method.');
    }
    if (assertion === undefined || type === undefined) {
      throw invalidRequest('client_assertion', 'Send client_assertion with its type.');
    }
    return this.assertions.authenticate(assertion, id);
  }

  private async bySecret(
    authorization: string | undefined,
    id: string | undefined,
  ): Promise<ResourceServerSettings> {
    const credentials = credentialsOf(authorization);
    const client = this.clients.get(credentials?.id ?? '');
    const secrets = (await client?.secrets.current()) ?? [];
    const digest = digestOf(credentials?.secret ?? '');
    const isKnown = secrets.some((known) => timingSafeEqual(known, digest));
    const isSame = id === undefined || id === credentials?.id;
    if (client === undefined || !isKnown || !isSame) {
      throw new AppError('invalid-client');
    }
    return client.server;
  }
}

/** Returns the client id that a header claims; undefined without one. It proves nothing. */
export function clientIdIn(header: string | undefined): string | undefined {
  return credentialsOf(header)?.id;
}

/** Both parts are form-encoded before they are joined (RFC 6749, 2.3.1). */
function credentialsOf(header: string | undefined): { id: string; secret: string } | null {
  const encoded = header === undefined ? undefined : BASIC.exec(header)?.[1];
  const text = Buffer.from(encoded ?? '', 'base64').toString('utf8');
  const separator = text.indexOf(':');
  if (separator < 1) {
    return null;
  }
  try {
    const decode = (part: string): string => decodeURIComponent(part.replaceAll('+', ' '));
    return { id: decode(text.slice(0, separator)), secret: decode(text.slice(separator + 1)) };
  } catch {
    return null;
  }
}

/** All digests are of one length, which `timingSafeEqual` demands. */
function digestOf(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
