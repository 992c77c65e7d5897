import { isLoginAnswer, type LoginAnswer } from './api-client-answers.js';
import type { Routes } from './api-routes.js';

/** Logging in with a client certificate, which the platform shows when it connects. */
export class CertificateRoutes {
  constructor(
    private readonly routes: Routes,
    private readonly serverUrl: string,
  ) {}

  /** With the certificate of this very connection, making the account where the server does. */
  logIn(): Promise<LoginAnswer> {
    return this.routes.send('POST /v1/auth/mtls', {}, isLoginAnswer);
  }

  /**
   * The address to open where only a browser can show the certificate. It comes back to `returnTo`
   * with `code` for {@link claim}, or with `error`.
   *
   * @param proofHash of `makeLoginProof`: the code is then worth nothing without its proof
   */
  startUrl(returnTo: string, proofHash?: string): string {
    const query = new URLSearchParams({ returnTo, ...(proofHash && { proofHash }) });
    return `${this.serverUrl}/v1/auth/mtls/start?${query.toString()}`;
  }

  /**
   * The login a code stands for; once.
   *
   * @param proof where the login began with its `proofHash`
   */
  claim(code: string, proof?: string): Promise<LoginAnswer> {
    const body = { code, ...(proof !== undefined && { proof }) };
    return this.routes.send('POST /v1/auth/mtls/claim', { body }, isLoginAnswer);
  }
}
