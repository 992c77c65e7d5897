import type { DeviceKey } from '../crypto/device-key.js';
import type { LoginAnswer, SignedLogin } from './api-client-answers.js';
import type { Routes } from './api-routes.js';
import { writeQuery } from './query.js';

export interface ExternalStart {
  /** Default `keyed`. */
  readonly mode?: 'keyed' | 'keyless';
  /** The hash of {@link makeLoginProof}. */
  readonly proofHash?: string;
  /** Keyed logins only, instead of the hash. */
  readonly publicKey?: string;
  /** A program's own port on 127.0.0.1, which the browser returns to (RFC 8252, 7.3). */
  readonly loopbackPort?: number;
}

/** The `pending` of the return address, and the proof that this device kept. */
export interface ExternalFinish {
  readonly pending: string;
  readonly proof?: string;
}

export interface SignUpOptions {
  /** A code of the server's administrator, in any case, with dashes or without. */
  readonly invitation?: string;
}

export interface KeyedFinish extends ExternalFinish {
  /** Creates the account of a new key. Default false: a key without an account is refused. */
  readonly create?: boolean;
}

/** Signing in through an identity provider. */
export class ExternalLoginRoutes {
  constructor(
    private readonly routes: Routes,
    private readonly signLogin: (key: DeviceKey) => Promise<SignedLogin>,
  ) {}

  /** @returns the address to open in a browser, valid for 10 minutes */
  async start(provider: string, query: ExternalStart): Promise<string> {
    const route = 'GET /v1/auth/external/{provider}/params';
    const { url } = await this.routes.send(route, { path: { provider }, query });
    return url;
  }

  /**
   * Finishes with a device key: signs in to the key's account and links the identity to it, or
   * creates the account with `create: true`. Rejects with `not-found` where the key has none, and
   * with ChallengeRefused as {@link GatehouseClient.logIn} does.
   */
  async finish(provider: string, finish: KeyedFinish, key: DeviceKey): Promise<LoginAnswer> {
    const body = { create: false, ...finish, ...(await this.signLogin(key)) };
    const route = 'POST /v1/auth/external/{provider}/finalize';
    return this.routes.send(route, { path: { provider }, body });
  }

  /** Finishes without a device key; refused with `restore-required` where the account has one. */
  finishKeyless(provider: string, finish: Required<ExternalFinish>): Promise<LoginAnswer> {
    const route = 'POST /v1/auth/external/{provider}/finalize-keyless';
    return this.routes.send(route, { path: { provider }, body: finish });
  }

  /**
   * Returns the login name of the person that the provider named, null if it named none. The login
   * can be finished afterwards.
   */
  async loginOf(provider: string, proven: Required<ExternalFinish>): Promise<string | null> {
    const route = 'POST /v1/auth/external/{provider}/pending';
    const { login } = await this.routes.send(route, { path: { provider }, body: proven });
    return login;
  }

  /** Cancels a login that will not be finished; also succeeds where it does not exist. */
  async giveUp(provider: string, pending: string): Promise<void> {
    const route = 'DELETE /v1/auth/external/{provider}/pending/{pending}';
    await this.routes.run(route, { path: { provider, pending } });
  }
}

/** Linking providers to the account of the token. */
export class ConnectRoutes {
  constructor(private readonly routes: Routes) {}

  /** @returns the address to open in a browser, valid for 10 minutes */
  async start(provider: string): Promise<string> {
    const route = 'GET /v1/connect/external/{provider}/params';
    const { url } = await this.routes.send(route, { path: { provider } });
    return url;
  }

  async finish(provider: string, pending: string): Promise<void> {
    const request = { path: { provider }, body: { pending } };
    await this.routes.run('POST /v1/connect/external/{provider}/finalize', request);
  }

  /** Unlinks; where the provider is required, the account loses access until it is linked again. */
  async disconnect(provider: string): Promise<void> {
    const route = 'DELETE /v1/connect/external/{provider}';
    await this.routes.run(route, { path: { provider } });
  }
}

/** Signing in with a client certificate, which the platform sends in the TLS handshake. */
export class CertificateRoutes {
  constructor(
    private readonly routes: Routes,
    private readonly serverUrl: string,
  ) {}

  /** With the certificate of this connection; creates the account where the server allows it. */
  logIn(): Promise<LoginAnswer> {
    return this.routes.send('POST /v1/auth/mtls', { body: {} });
  }

  /**
   * The address to open where only a browser has the certificate. It redirects to `returnTo` with
   * `code` for {@link claim}, or with `error`.
   *
   * @param proofHash of `makeLoginProof`: claiming the code then requires the proof
   */
  startUrl(returnTo: string, proofHash?: string): string {
    const query = writeQuery({ returnTo, proofHash: proofHash || undefined });
    return `${this.serverUrl}/v1/auth/mtls/start${query}`;
  }

  /**
   * Exchanges a code for its login; once.
   *
   * @param proof where the login started with its `proofHash`
   */
  claim(code: string, proof?: string): Promise<LoginAnswer> {
    const body = { code, ...(proof !== undefined && { proof }) };
    return this.routes.send('POST /v1/auth/mtls/claim', { body });
  }

  /**
   * Begins linking a certificate to the account of the token where only a browser has it.
   *
   * @returns the address to open, valid for 10 minutes. It redirects to `returnTo` with `code` for
   *   {@link connect}, or with `error`
   */
  async startConnect(returnTo: string, proofHash?: string): Promise<string> {
    const query = { returnTo, ...(proofHash !== undefined && { proofHash }) };
    const { url } = await this.routes.send('GET /v1/connect/certificate/start', { query });
    return /^https?:/i.test(url) ? url : `${this.serverUrl}/v1/connect/certificate/${url}`;
  }

  /** Links the certificate of this connection, or of the code in a browser's return address. */
  async connect(claim: { readonly code?: string; readonly proof?: string } = {}): Promise<void> {
    await this.routes.run('POST /v1/connect/certificate', { body: claim });
  }

  /** Unlinks; where a certificate is required, the account loses access until one is linked again. */
  async disconnect(): Promise<void> {
    await this.routes.run('DELETE /v1/connect/certificate', {});
  }
}
