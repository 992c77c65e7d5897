import {
  withMethods,
  type AccountProfile,
  type AccountSession,
  type Challenge,
  type LoginAnswer,
  type SavedPushToken,
  type ServerFeatures,
  type SignedLogin,
  type AnswerOf,
  type Route,
} from './api-client-answers.js';
import { Transport, type TransportOptions } from './api-client-transport.js';
import { CredentialRoutes, EncryptionRoutes, SettingsRoutes } from './account-routes.js';
import { Routes, type RequestOf } from './api-routes.js';
import type { DeviceKey } from '../crypto/device-key.js';
import { hideFromLogs } from '../hide-from-logs.js';
import { ResourceTokens, type TokenOptions } from '../resource-tokens.js';
import { GatehouseProblem } from './problem.js';
import { requireServerUrl } from './server-url.js';
import {
  completeLogin,
  FEATURES_BEFORE_DISCOVERY,
  olderLogin,
  olderProfile,
} from '../older-server.js';
import { DeviceRoutes } from '../devices/device-routes.js';
import { ProgramRoutes } from '../programs/program-routes.js';
import { RequestRoutes } from '../approvals/request-routes.js';
import {
  CertificateRoutes,
  ConnectRoutes,
  ExternalLoginRoutes,
  type SignUpOptions,
} from './login-routes.js';

/**
 * The routes of one server, for one account where a token is given. Needs `fetch` and nothing of
 * Node. Every method rejects with GatehouseProblem when the server refuses and with
 * ServerUnreachable when it does not answer.
 */
export class GatehouseClient {
  readonly external: ExternalLoginRoutes;
  readonly connect: ConnectRoutes;
  readonly certificate: CertificateRoutes;
  readonly devices: DeviceRoutes;
  readonly settings: SettingsRoutes;
  readonly encryption: EncryptionRoutes;
  readonly credentials: CredentialRoutes;
  readonly requests: RequestRoutes;
  readonly programs: ProgramRoutes;
  readonly serverUrl: string;
  private readonly routes: Routes;
  private readonly resourceTokens: ResourceTokens;

  constructor(private readonly options: TransportOptions) {
    this.serverUrl = requireServerUrl(options.serverUrl);
    hideFromLogs(this, 'options');
    this.routes = new Routes(options);
    this.external = new ExternalLoginRoutes(this.routes, (key) => this.signLogin(key));
    this.connect = new ConnectRoutes(this.routes);
    this.certificate = new CertificateRoutes(this.routes, this.serverUrl);
    this.devices = new DeviceRoutes(this.routes);
    this.settings = new SettingsRoutes(this.routes);
    this.encryption = new EncryptionRoutes(this.routes);
    this.credentials = new CredentialRoutes(this.routes);
    this.requests = new RequestRoutes(options);
    this.programs = new ProgramRoutes(options);
    this.resourceTokens = new ResourceTokens(new Transport(options), options.token);
  }

  /** Returns a client of the same server for the account of `token`. */
  withToken(token: string): GatehouseClient {
    return new GatehouseClient({ ...this.options, token });
  }

  /**
   * Any route by its name, for example `GET /v1/push-tokens`; the compiler checks the request. For
   * routes without a method of their own.
   */
  request<One extends Route>(route: One, request: RequestOf<One>): Promise<AnswerOf<One>> {
    return this.routes.send(route, request);
  }

  async features(): Promise<ServerFeatures> {
    try {
      return withMethods(await this.routes.send('GET /v1/features', {}));
    } catch (error) {
      if (this.options.allowClientChallenge === true && isMissing(error)) {
        return FEATURES_BEFORE_DISCOVERY;
      }
      throw error;
    }
  }

  /** Valid for 60 seconds, once. External keys sign the result of {@link checkLoginChallenge}. */
  challenge(): Promise<Challenge> {
    return this.routes.send('POST /v1/auth/challenge', {});
  }

  /**
   * Signs in to the account of a key; refused with `not-found` where the key has none. Rejects with
   * ChallengeRefused, and sends nothing, where the challenge may be relayed from another server.
   */
  async logIn(key: DeviceKey): Promise<LoginAnswer> {
    return this.logInSigned(await this.signLogin(key));
  }

  /**
   * Creates the account of a new key, or signs in where the key has one; see {@link logIn}. Rejects with
   * `invitation-invalid` where the server does not accept the invitation.
   */
  async signUp(key: DeviceKey, options: SignUpOptions = {}): Promise<LoginAnswer> {
    return this.signUpSigned(await this.signLogin(key), options);
  }

  /** {@link logIn} for an external key, for example in a hardware store. */
  logInSigned(login: SignedLogin): Promise<LoginAnswer> {
    return this.sendLogin({ ...login, create: false });
  }

  /** {@link signUp} for an external key. */
  signUpSigned(login: SignedLogin, { invitation }: SignUpOptions = {}): Promise<LoginAnswer> {
    const invited = invitation === undefined ? {} : { invitation };
    return this.sendLogin({ ...login, create: true, ...invited });
  }

  /**
   * Returns an access token for another backend of the operator. It is kept, and renewed before it
   * expires: call this before each request or connection. Rejects with `invalid-target` for a backend
   * that the server does not know, and with the refusals of its rules, such as `provider-required`.
   *
   * @param resource the address of the backend, exactly as the server's configuration has it
   * @param options `renew` forgets the token that is kept, for one that the backend refused
   */
  tokenFor(resource: string, options: TokenOptions = {}): Promise<string> {
    return this.resourceTokens.tokenFor(resource, options);
  }

  /**
   * Sends a request to another backend with a token of {@link tokenFor}. If the backend answers 401, the
   * token is renewed, and the request sent once more: keys may have been replaced after a theft.
   *
   * @param send may be called twice
   */
  sendTo<Answer extends { readonly status: number }>(
    resource: string,
    send: (token: string) => Promise<Answer>,
  ): Promise<Answer> {
    return this.resourceTokens.sendTo(resource, send);
  }

  /** Revokes this client's token. */
  async logOut(): Promise<void> {
    await this.routes.run('POST /v1/auth/logout', {});
  }

  /** Revokes every token of the account. */
  async logOutEverywhere(): Promise<void> {
    await this.routes.run('POST /v1/auth/logout-everywhere', {});
  }

  /** The account's live sessions, newest first. */
  async sessions(): Promise<readonly AccountSession[]> {
    const answer = await this.routes.send('GET /v1/account/sessions', {});
    return answer.sessions;
  }

  /** Ends a session at once; also succeeds where it does not exist. */
  async endSession(id: string): Promise<void> {
    await this.routes.run('DELETE /v1/account/sessions/{id}', { path: { id } });
  }

  /** Names a session of the account. @param name 1 to 64 printable characters */
  async renameSession(id: string, name: string): Promise<void> {
    const request = { path: { id }, body: { name } };
    await this.routes.run('PATCH /v1/account/sessions/{id}', request);
  }

  profile(): Promise<AccountProfile> {
    return this.routes.send('GET /v1/account/profile', {});
  }

  /** Deletes the account with all of its data, and revokes its tokens. */
  async removeAccount(): Promise<void> {
    await this.routes.run('DELETE /v1/account', {});
  }

  /** Newest first. */
  async pushTokens(): Promise<readonly SavedPushToken[]> {
    const answer = await this.routes.send('GET /v1/push-tokens', {});
    return answer.tokens;
  }

  /**
   * Undefined fields stay as they were saved before.
   *
   * @param clientServerUrl the address at which the app with this token reaches the server
   * @param device for its owner, who distinguishes devices by it
   */
  async savePushToken(
    token: string,
    clientServerUrl?: string,
    device: Pick<RequestOf<'POST /v1/push-tokens'>['body'], 'name' | 'platform'> = {},
  ): Promise<void> {
    const body = { token, ...device, ...(clientServerUrl !== undefined && { clientServerUrl }) };
    await this.routes.run('POST /v1/push-tokens', { body });
  }

  /** Also succeeds where the token does not exist. */
  async removePushToken(token: string): Promise<void> {
    await this.routes.run('DELETE /v1/push-tokens/{token}', { path: { token } });
  }

  /** Signs the server's challenge, or one of the client's own where the caller allows it. */
  private async signLogin(key: DeviceKey): Promise<SignedLogin> {
    const { allowClientChallenge = false } = this.options;
    const answer = await this.challenge().catch((error: unknown) => {
      if (!isMissing(error)) {
        throw error;
      }
      return { challenge: null };
    });
    return key.signLogin(answer.challenge, this.serverUrl, allowClientChallenge);
  }

  /** Where an older server is allowed, its answer may be `{success, token}` alone. */
  private async sendLogin(body: RequestOf<'POST /v1/auth'>['body']): Promise<LoginAnswer> {
    if (this.options.allowClientChallenge !== true) {
      return this.routes.send('POST /v1/auth', { body });
    }
    const answer = await this.routes.sendFor('POST /v1/auth', { body }, olderLogin);
    const { routes } = this.withToken(answer.token);
    return completeLogin(answer, body.publicKey, () =>
      routes.sendFor('GET /v1/account/profile', {}, olderProfile),
    );
  }
}

/** Returns true where the server does not have the route. */
function isMissing(error: unknown): boolean {
  return error instanceof GatehouseProblem && error.status === 404;
}
