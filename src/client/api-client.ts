import {
  isChallenge,
  isFeatures,
  isLoginAnswer,
  isProfile,
  isSessionList,
  isSuccess,
  isTokenList,
  withMethods,
  type AccountProfile,
  type AccountSession,
  type Challenge,
  type LoginAnswer,
  type SavedPushToken,
  type ServerFeatures,
  type SignedLogin,
} from './api-client-answers.js';
import type { TransportOptions } from './api-client-transport.js';
import { CredentialRoutes, EncryptionRoutes, SettingsRoutes } from './account-routes.js';
import { isAnswerOf, Routes, type AnswerOf, type RequestOf, type Route } from './api-routes.js';
import { CertificateRoutes } from './certificate-routes.js';
import type { DeviceKey } from './device-key.js';
import { DeviceRoutes } from './device-routes.js';
import { ConnectRoutes, ExternalLoginRoutes } from './external-routes.js';

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
  private readonly routes: Routes;

  constructor(private readonly options: TransportOptions) {
    this.routes = new Routes(options);
    this.external = new ExternalLoginRoutes(this.routes, (key) => this.prove(key));
    this.connect = new ConnectRoutes(this.routes);
    this.certificate = new CertificateRoutes(this.routes, options.serverUrl);
    this.devices = new DeviceRoutes(this.routes);
    this.settings = new SettingsRoutes(this.routes);
    this.encryption = new EncryptionRoutes(this.routes);
    this.credentials = new CredentialRoutes(this.routes);
  }

  /** The same server, for the account of `token`. */
  withToken(token: string): GatehouseClient {
    return new GatehouseClient({ ...this.options, token });
  }

  /**
   * Any route by its name, `GET /v1/push-tokens` say, with what it takes checked by the compiler.
   * For what has no method of its own here.
   */
  request<One extends Route>(route: One, request: RequestOf<One>): Promise<AnswerOf<One>> {
    return this.routes.send(route, request, isAnswerOf<One>);
  }

  /** What this server offers: ask it first, do not guess. */
  async features(): Promise<ServerFeatures> {
    return withMethods(await this.routes.send('GET /v1/features', {}, isFeatures));
  }

  /** Good for 60 seconds, once. A key that is elsewhere signs what {@link checkLoginChallenge} returns. */
  challenge(): Promise<Challenge> {
    return this.routes.send('POST /v1/auth/challenge', {}, isChallenge);
  }

  /**
   * Logs in to the account of a key; refused with `not-found` where the key has none. Rejects with
   * ChallengeRefused, and sends nothing, where the challenge may be that of another server.
   */
  async logIn(key: DeviceKey): Promise<LoginAnswer> {
    return this.logInSigned(await this.prove(key));
  }

  /** Makes the account of a new key, or logs in where the key has one. Else as {@link logIn}. */
  async signUp(key: DeviceKey): Promise<LoginAnswer> {
    return this.signUpSigned(await this.prove(key));
  }

  /** {@link logIn} for a key whose secret is elsewhere, in a hardware store for example. */
  logInSigned(login: SignedLogin): Promise<LoginAnswer> {
    const body = { ...login, create: false };
    return this.routes.send('POST /v1/auth', { body }, isLoginAnswer);
  }

  /** {@link signUp} for such a key. */
  signUpSigned(body: SignedLogin): Promise<LoginAnswer> {
    return this.routes.send('POST /v1/auth', { body }, isLoginAnswer);
  }

  /** Revokes this client's token. */
  async logOut(): Promise<void> {
    await this.routes.send('POST /v1/auth/logout', {}, isSuccess);
  }

  /** Revokes every token of the account. */
  async logOutEverywhere(): Promise<void> {
    await this.routes.send('POST /v1/auth/logout-everywhere', {}, isSuccess);
  }

  /** The account's live sessions, newest first. */
  async sessions(): Promise<readonly AccountSession[]> {
    const answer = await this.routes.send('GET /v1/account/sessions', {}, isSessionList);
    return answer.sessions;
  }

  /** Ends a session at once and everywhere; succeeds whether the server knew it or not. */
  async endSession(id: string): Promise<void> {
    await this.routes.send('DELETE /v1/account/sessions/{id}', { path: { id } }, isSuccess);
  }

  profile(): Promise<AccountProfile> {
    return this.routes.send('GET /v1/account/profile', {}, isProfile);
  }

  /** Ends the account: everything that hangs on it is removed, and its tokens are revoked. */
  async removeAccount(): Promise<void> {
    await this.routes.send('DELETE /v1/account', {}, isSuccess);
  }

  /** Newest first. */
  async pushTokens(): Promise<readonly SavedPushToken[]> {
    const answer = await this.routes.send('GET /v1/push-tokens', {}, isTokenList);
    return answer.tokens;
  }

  /** @param clientServerUrl the address at which the app with this token reaches the server */
  async savePushToken(token: string, clientServerUrl?: string): Promise<void> {
    const body = { token, ...(clientServerUrl !== undefined && { clientServerUrl }) };
    await this.routes.send('POST /v1/push-tokens', { body }, isSuccess);
  }

  /** Succeeds whether the server knew the token or not. */
  async removePushToken(token: string): Promise<void> {
    await this.routes.send('DELETE /v1/push-tokens/{token}', { path: { token } }, isSuccess);
  }

  /** Has a new challenge of this server signed. */
  private async prove(key: DeviceKey): Promise<SignedLogin> {
    const { challenge } = await this.challenge();
    const signature = await key.signChallenge(challenge, this.options.serverUrl);
    return { publicKey: key.publicKey, challenge, signature };
  }
}
