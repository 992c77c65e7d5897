import { constants, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ServerOptions } from 'node:https';
import { createSecureContext, TLSSocket } from 'node:tls';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { Interval } from '@nestjs/schedule';
import { PolledFiles } from '../../common/polled-files.js';
import { adminConfig } from '../../config/admin.config.js';
import { ConfigurationError } from '../../config/configuration-error.js';
import { toOperatorName } from '../../policy/audit-event.js';
import type { AdminCaller } from './admin-caller.js';

const LOOK_EVERY_MS = 2000;
const HANDSHAKE_TIMEOUT_MS = 10_000;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

type Contents = Pick<ServerOptions, 'cert' | 'key' | 'ca'>;

/** The certificate of the administration port, and the clients that its authorities vouch for. */
@Injectable()
export class AdminTls {
  private readonly logger = new Logger('Administration');
  private onChange: ((context: ServerOptions) => void) | null = null;
  private readonly files = new PolledFiles(
    () => this.read(),
    contextOf,
    (reason) =>
      this.logger.error(`The changed certificate files of ADMIN_PORT are not used: ${reason}`),
  );

  constructor(@Inject(adminConfig.KEY) private readonly config: ConfigType<typeof adminConfig>) {}

  /**
   * @returns null for plain HTTP
   * @throws ConfigurationError when a file cannot be read or is invalid
   */
  async options(): Promise<ServerOptions | null> {
    const { certPath, clientCaPath } = this.config.tls;
    if (certPath === null) {
      return null;
    }
    try {
      return {
        ...(await this.files.load()),
        requestCert: clientCaPath !== null,
        // Tokens and logins work without a certificate; the guard looks at `authorized`.
        rejectUnauthorized: false,
        handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const message = `the certificate files cannot be used: ${reason}`;
      throw new ConfigurationError([{ variable: 'ADMIN_TLS_CERT_PATH', message }]);
    }
  }

  /** Calls back with every valid change of the files. */
  watch(onChange: (context: ServerOptions) => void): void {
    this.onChange = onChange;
  }

  /** The caller of a connection; null when its client showed no certificate that is accepted. */
  callerOf(socket: object): AdminCaller | null {
    const { clientCaPath, operators } = this.config.tls;
    if (clientCaPath === null || !(socket instanceof TLSSocket) || !socket.authorized) {
      return null;
    }
    const { subject } = socket.getPeerCertificate();
    const commonName: unknown = subject?.CN;
    const name =
      typeof commonName === 'string' ? toOperatorName(`certificate:${commonName}`) : null;
    const canAct = operators.includes(String(commonName));
    return name && { name, role: canAct ? 'operate' : 'read', method: 'certificate' };
  }

  @Interval(LOOK_EVERY_MS)
  async look(): Promise<void> {
    const { onChange } = this;
    if (onChange === null || this.config.tls.certPath === null) {
      return;
    }
    const context = await this.files.look();
    if (context !== null) {
      onChange(context);
      this.logger.log('The certificate files of ADMIN_PORT have changed and are in use.');
    }
  }

  private async read(): Promise<Contents> {
    const { certPath, keyPath, clientCaPath } = this.config.tls;
    const [cert, key, ca] = await Promise.all(
      [certPath, keyPath, clientCaPath].map(async (path) =>
        path === null ? undefined : readFile(path, 'utf8'),
      ),
    );
    return { ...(cert && { cert }), ...(key && { key }), ...(ca && { ca }) };
  }
}

/** @throws Error when certificate, key or authorities are invalid or do not belong together */
function contextOf(contents: Contents): ServerOptions {
  // A resumed session would keep a client that the changed authorities no longer accept.
  const secureOptions = constants.SSL_OP_NO_TICKET;
  const options = { ...contents, minVersion: 'TLSv1.2', secureOptions } as const;
  createSecureContext(options);
  // Node takes a text without certificates for a bundle of none.
  if (typeof contents.ca === 'string') {
    for (const block of contents.ca.match(CERTIFICATE) ?? [contents.ca]) {
      new X509Certificate(block);
    }
  }
  return options;
}
