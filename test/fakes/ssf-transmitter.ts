import { randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type CryptoKey, type JWK } from 'jose';
import { startLocalServer, type Answer, type LocalServer } from '../helpers/local-server.js';

export const CAEP = 'https://schemas.openid.net/secevent/caep/event-type/';
export const RISC = 'https://schemas.openid.net/secevent/risc/event-type/';
export const SSF = 'https://schemas.openid.net/secevent/ssf/event-type/';

/** Claims and header that replace the correct ones. */
export interface EventChanges {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  readonly event?: Readonly<Record<string, unknown>>;
  readonly isForged?: boolean;
  readonly isUnsigned?: boolean;
}

/** A transmitter of security events (OpenID SSF 1.0) with a path in its issuer. */
export class SsfTransmitter {
  /** While true, its documents are answered with 503. */
  isDown = false;
  private kid = 'first';
  private server!: LocalServer;
  private privateKey!: CryptoKey;
  private jwks: readonly JWK[] = [];

  private constructor(private readonly audience: string) {}

  static async start(audience: string): Promise<SsfTransmitter> {
    const transmitter = new SsfTransmitter(audience);
    transmitter.server = await startLocalServer(({ url }) => transmitter.answer(url.pathname));
    await transmitter.rotate('first');
    return transmitter;
  }

  get issuer(): string {
    return `${this.server.url}/tenant`;
  }

  close(): Promise<void> {
    return this.server.close();
  }

  async rotate(kid: string): Promise<void> {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    this.kid = kid;
    this.privateKey = privateKey;
    this.jwks = [{ ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' }];
  }

  async event(type: string, subject: unknown, changes: EventChanges = {}): Promise<string> {
    const claims = {
      iss: this.issuer,
      aud: this.audience,
      iat: Math.floor(Date.now() / 1000),
      jti: randomUUID(),
      txn: randomUUID(),
      sub_id: subject,
      events: { [type]: { ...changes.event } },
      ...changes.claims,
    };
    const payload = JSON.parse(JSON.stringify(claims)) as Record<string, unknown>;
    if (changes.isUnsigned === true) {
      return new UnsecuredJWT(payload).encode();
    }
    const header = { alg: 'ES256', kid: this.kid, typ: 'secevent+jwt', ...changes.header };
    const other = changes.isForged === true ? await generateKeyPair('ES256') : null;
    return new SignJWT(payload)
      .setProtectedHeader(header)
      .sign(other?.privateKey ?? this.privateKey);
  }

  private answer(path: string): Answer {
    if (this.isDown) {
      return { status: 503 };
    }
    switch (path) {
      case '/.well-known/ssf-configuration/tenant':
        return {
          status: 200,
          json: { issuer: this.issuer, jwks_uri: `${this.server.url}/keys` },
        };
      case '/keys':
        return { status: 200, json: { keys: this.jwks } };
      default:
        return { status: 404 };
    }
  }
}
