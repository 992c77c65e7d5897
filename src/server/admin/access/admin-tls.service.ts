import type { Server, ServerOptions } from 'node:https';
import { TLSSocket } from 'node:tls';
import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { HANDSHAKE_TIMEOUT_MS } from '../../network/pending-handshakes.js';
import { adminConfig, adminTlsFiles } from '../../config/admin.config.js';
import { ServedCertificatesService } from '../../providers/certificate/served-certificates.service.js';
import { loadTlsContext } from '../../config/tls/tls-files.js';
import { toOperatorName } from '../../../core/policy/audit-event.js';
import type { AdminCaller } from './admin-caller.js';

/** The certificate of the administration port, and the authorities of its clients. */
@Injectable()
export class AdminTlsService {
  constructor(
    private readonly certificates: ServedCertificatesService,
    @Inject(adminConfig.KEY) private readonly config: ConfigType<typeof adminConfig>,
  ) {}

  /** @returns null for plain HTTP @throws ConfigurationError for an unreadable or invalid file */
  async options(): Promise<ServerOptions | null> {
    const context = await loadTlsContext(adminTlsFiles(this.config.tls));
    return (
      context && {
        ...context,
        requestCert: this.config.tls.clientCaPath !== null,
        // Tokens and logins work without a certificate; the guard checks `authorized`.
        rejectUnauthorized: false,
        handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      }
    );
  }

  keepCurrent(server: Server): Promise<void> {
    return this.certificates.keepCurrent('ADMIN_PORT', server);
  }

  /** Returns the caller of a connection; null when its client presented no accepted certificate. */
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
}
