import * as v from 'valibot';
import { success } from '../api/api-client-answers.js';
import { Transport, type TransportOptions } from '../api/api-client-transport.js';

const PATH = '/v1/account/programs';

const uuid = v.pipe(v.string(), v.uuid());
const ms = v.pipe(v.number(), v.safeInteger());
const named = v.object({ id: v.string(), name: v.string() });
const scope = v.object({ id: v.string(), text: v.string(), requires: v.array(v.string()) });
const grant = v.object({
  id: v.string(),
  client: named,
  redirectUri: v.nullable(v.string()),
  resource: named,
  scopes: v.array(scope),
  kind: v.string(),
  method: v.string(),
  createdAt: ms,
  lastUsedAt: ms,
  lastAddress: v.nullable(v.string()),
  expiresAt: ms,
});
const list = v.object({ programs: v.array(grant) });
const added = v.object({
  id: v.string(),
  clientId: v.string(),
  refreshToken: v.string(),
  resource: named,
  scopes: v.array(scope),
  expiresAt: ms,
});
const issued = v.object({
  access_token: v.string(),
  expires_in: v.pipe(v.number(), v.minValue(0)),
  scope: v.string(),
  refresh_token: v.string(),
});

/**
 * A program that may act for the account at one backend. `redirectUri` is null for the `kind` `file`,
 * which has no address; times are Unix milliseconds.
 */
export type ListedProgram = v.InferOutput<typeof grant>;
export type ProgramScope = v.InferOutput<typeof scope>;

export interface NewProgram {
  /** 1 to 64 printable characters. */
  readonly name: string;
  /** The id of the backend in the server's configuration. */
  readonly resource: string;
  /** Scopes that they require are granted, too. Default: the initial ones of the backend. */
  readonly scopes?: readonly string[] | undefined;
  /** Default, and at most: the longest time of the backend. */
  readonly expiresInSeconds?: number | undefined;
}

/** The program and its secret at the token endpoint. */
export interface ProgramCredentials {
  readonly clientId: string;
  /** Store it where the program alone can read it. */
  readonly refreshToken: string;
}

/** A program that was added, with all that it may do. */
export type AddedProgram = v.InferOutput<typeof added>;

export interface ProgramToken {
  readonly accessToken: string;
  readonly expiresInSeconds: number;
  readonly scopes: readonly string[];
  /** Store it in place of the one that was sent. */
  readonly refreshToken: string;
}

/**
 * Programs that may act for the account (`/v1/account/programs`). A server without a backend that accepts
 * programs refuses with `not-found`; `features.programs` of `features()` says which server has them.
 */
export class ProgramRoutes {
  private readonly transport: Transport;

  constructor(options: TransportOptions) {
    this.transport = new Transport(options);
  }

  /** Newest first. */
  async list(): Promise<readonly ListedProgram[]> {
    return (await this.transport.send('GET', PATH, list)).programs;
  }

  /** Ends the access of a program at once and everywhere; refused with `not-found` where it has ended. */
  async end(id: string): Promise<void> {
    if (!v.is(uuid, id)) {
      // Another text could select another route.
      throw new TypeError('The id of a program is a UUID.');
    }
    await this.transport.send('DELETE', `${PATH}/${id}`, success);
  }

  /**
   * Grants a program access without a browser; refused with `fresh-login-required` where the login of
   * this client's token is older than 15 minutes, and with `invalid-target` and `invalid-scope`.
   */
  add({ name, resource, scopes, expiresInSeconds }: NewProgram): Promise<AddedProgram> {
    return this.transport.send('POST', PATH, added, {
      body: { name, resource, scopes, expiresInSeconds },
    });
  }

  /**
   * Returns an access token for the backend of the program. Needs no session. A superseded refresh token
   * still works for an hour, and an older one ends the access: keep the new one before the old one is
   * used again. Refused with `invalid-grant` for good, and with `unavailable` for now.
   */
  async token({ clientId, refreshToken }: ProgramCredentials): Promise<ProgramToken> {
    const grantType = { grant_type: 'refresh_token', client_id: clientId };
    const answer = await this.transport.send('POST', '/v1/oauth/token', issued, {
      form: { ...grantType, refresh_token: refreshToken },
    });
    return {
      accessToken: answer.access_token,
      expiresInSeconds: answer.expires_in,
      scopes: answer.scope.split(' '),
      refreshToken: answer.refresh_token,
    };
  }
}
