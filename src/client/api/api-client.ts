import {
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
import { Routes, type AnswerOf, type RequestOf, type Route } from './api-routes.js';
import type { DeviceKey } from '../crypto/device-key.js';
import { DeviceRoutes } from './device-routes.js';
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
   * Any route by its name, for example `GET /v1/push-tokens`; the compiler checks the request. For
   * routes without a method of their own.
   */
  request<One extends Route>(route: One, request: RequestOf<One>): Promise<AnswerOf<One>> {
    return this.routes.send(route, request);
  }

  /** What this server offers. */
  async features(): Promise<ServerFeatures> {
    return withMethods(await this.routes.send('GET /v1/features', {}));
  }

  /** Valid for 60 seconds, once. External keys sign the result of {@link checkLoginChallenge}. */
  challenge(): Promise<Challenge> {
    return this.routes.send('POST /v1/auth/challenge', {});
  }

  /**
   * Logs in to the account of a key; refused with `not-found` where the key has none. Rejects with
   * ChallengeRefused, and sends nothing, where the challenge may be relayed from another server.
   */
  async logIn(key: DeviceKey): Promise<LoginAnswer> {
    return this.logInSigned(await this.prove(key));
  }

  /**
   * Creates the account of a new key, or logs in where the key has one; see {@link logIn}. Rejects with
   * `invitation-invalid` where the server does not accept the invitation.
   */
  async signUp(key: DeviceKey, options: SignUpOptions = {}): Promise<LoginAnswer> {
    return this.signUpSigned(await this.prove(key), options);
  }

  /** {@link logIn} for an external key, for example in a hardware store. */
  logInSigned(login: SignedLogin): Promise<LoginAnswer> {
    const body = { ...login, create: false };
    return this.routes.send('POST /v1/auth', { body });
  }

  /** {@link signUp} for an external key. */
  signUpSigned(login: SignedLogin, { invitation }: SignUpOptions = {}): Promise<LoginAnswer> {
    const body = { ...login, create: true, ...(invitation !== undefined && { invitation }) };
    return this.routes.send('POST /v1/auth', { body });
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
   * What is undefined stays as it was saved before.
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

  /** Signs a new challenge of this server. */
  private async prove(key: DeviceKey): Promise<SignedLogin> {
    const { challenge } = await this.challenge();
    const signature = await key.signChallenge(challenge, this.options.serverUrl);
    return { publicKey: key.publicKey, challenge, signature };
  }
}
