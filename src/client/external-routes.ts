import {
  isAddress,
  isLoginAnswer,
  isSuccess,
  type LoginAnswer,
  type SignedLogin,
} from './api-client-answers.js';
import type { Routes } from './api-routes.js';
import type { DeviceKey } from './device-key.js';

/** How a login through a provider begins. One of `proofHash` and `publicKey` says who may finish. */
export interface ExternalStart {
  /** Default `keyed`. */
  readonly mode?: 'keyed' | 'keyless';
  /** Of {@link makeLoginProof}. */
  readonly proofHash?: string;
  /** Keyed logins only, in place of the hash. */
  readonly publicKey?: string;
}

/** What the return address brought, and the secret that this device kept. */
export interface ExternalFinish {
  readonly pending: string;
  readonly proof?: string;
}

/** Logging in through an identity provider. */
export class ExternalLoginRoutes {
  constructor(
    private readonly routes: Routes,
    private readonly prove: (key: DeviceKey) => Promise<SignedLogin>,
  ) {}

  /** @returns the address to open in a browser, good for 10 minutes */
  async start(provider: string, query: ExternalStart): Promise<string> {
    const route = 'GET /v1/auth/external/{provider}/params';
    const { url } = await this.routes.send(route, { path: { provider }, query }, isAddress);
    return url;
  }

  /**
   * Finishes with a device key: signs up, logs in, or links the identity to the key's account.
   * Rejects with ChallengeRefused as {@link GatehouseClient.logIn} does.
   */
  async finish(provider: string, finish: ExternalFinish, key: DeviceKey): Promise<LoginAnswer> {
    const body = { ...finish, ...(await this.prove(key)) };
    const route = 'POST /v1/auth/external/{provider}/finalize';
    return this.routes.send(route, { path: { provider }, body }, isLoginAnswer);
  }

  /** Finishes without a device key; refused with `restore-required` where the account has one. */
  finishKeyless(provider: string, finish: Required<ExternalFinish>): Promise<LoginAnswer> {
    const route = 'POST /v1/auth/external/{provider}/finalize-keyless';
    return this.routes.send(route, { path: { provider }, body: finish }, isLoginAnswer);
  }

  /** Gives up a login that will not be finished; succeeds whether the server knew it or not. */
  async giveUp(provider: string, pending: string): Promise<void> {
    const route = 'DELETE /v1/auth/external/{provider}/pending/{pending}';
    await this.routes.send(route, { path: { provider, pending } }, isSuccess);
  }
}

/** Linking providers to the account of the token. */
export class ConnectRoutes {
  constructor(private readonly routes: Routes) {}

  /** @returns the address to open in a browser, good for 10 minutes */
  async start(provider: string): Promise<string> {
    const route = 'GET /v1/connect/external/{provider}/params';
    const { url } = await this.routes.send(route, { path: { provider } }, isAddress);
    return url;
  }

  async finish(provider: string, pending: string): Promise<void> {
    const request = { path: { provider }, body: { pending } };
    await this.routes.send('POST /v1/connect/external/{provider}/finalize', request, isSuccess);
  }

  /** Unlinks; where the provider is required this ends the account's access until it is linked. */
  async disconnect(provider: string): Promise<void> {
    const route = 'DELETE /v1/connect/external/{provider}';
    await this.routes.send(route, { path: { provider } }, isSuccess);
  }
}
