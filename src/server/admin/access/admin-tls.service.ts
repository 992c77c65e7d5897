import type { Server, ServerOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../../common/runtime/clock.js';
import { adminConfig, type AdminSettings } from '../../config/admin.config.js';
import { ServedCertificatesService } from '../../providers/certificate/served-certificates.service.js';
import { loadTlsContext, tlsFileSet } from '../../config/tls/tls-files.js';
import { toOperatorName } from '../../../core/policy/audit-event.js';
import type { AdminCaller } from './admin-caller.js';

/** The certificate of the administration port, and the authorities of its clients. */
@Injectable()
export class AdminTlsService {
  constructor(
    private readonly certificates: ServedCertificatesService,
    private readonly clock: Clock,
    @Inject(adminConfig.KEY) private readonly config: AdminSettings,
  ) {}

  /** @returns null for plain HTTP @throws ConfigurationError for an unreadable or invalid file */
  async options(): Promise<ServerOptions | null> {
    const context = await loadTlsContext(tlsFileSet('ADMIN_TLS', this.config.tls));
    return (
      context && {
        ...context,
        requestCert: this.config.tls.clientCaPath !== null,
        // Tokens and logins work without a certificate; the guard checks `authorized`.
        rejectUnauthorized: false,
      }
    );
  }

  /** With other authorities, connections close that the former ones may have admitted, also unfinished ones. */
  keepCurrent(server: Server): Promise<void> {
    const open = new Set<Duplex>();
    server.on('connection', (socket) => {
      open.add(socket);
      socket.once('close', () => open.delete(socket));
    });
    return this.certificates.keepCurrent('ADMIN_PORT', server, () =>
      open.forEach((socket) => socket.destroy()),
    );
  }

  /** Returns the caller of a connection; null when its client presented no accepted certificate. */
  callerOf(socket: object): AdminCaller | null {
    const { clientCaPath, operators } = this.config.tls;
    if (clientCaPath === null || !(socket instanceof TLSSocket) || !socket.authorized) {
      return null;
    }
    const { subject, valid_to: until } = socket.getPeerCertificate();
    // The handshake was earlier: a connection stays open for as long as its client likes.
    if (!(this.clock.now() <= Date.parse(until))) {
      return null;
    }
    const commonName: unknown = subject?.CN;
    const name =
      typeof commonName === 'string' ? toOperatorName(`certificate:${commonName}`) : null;
    const canAct = operators.includes(String(commonName));
    return name && { name, role: canAct ? 'operate' : 'read', method: 'certificate' };
  }
}
