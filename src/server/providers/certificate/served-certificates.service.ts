import type { Server } from 'node:https';
import type { SecureContextOptions } from 'node:tls';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { adminConfig, type AdminSettings } from '../../config/admin.config.js';
import { httpConfig, type HttpSettings } from '../../config/http.config.js';
import { pollTlsFiles, tlsFileSet } from '../../config/tls/tls-files.js';

const LOOK_EVERY_MS = 2000;

type Port = 'PORT' | 'ADMIN_PORT';

interface ServedCertificate {
  readonly server: Pick<Server, 'setSecureContext'>;
  readonly files: ReturnType<typeof pollTlsFiles>;
  readonly onOtherAuthorities: () => void;
  authorities: SecureContextOptions['ca'];
}

/** Replaces the certificates of the main port and of the administration port when files change. */
@Injectable()
export class ServedCertificatesService {
  private readonly logger = new Logger('Certificates');
  private readonly served = new Map<Port, ServedCertificate>();

  constructor(
    @Inject(httpConfig.KEY) private readonly http: HttpSettings,
    @Inject(adminConfig.KEY) private readonly admin: AdminSettings,
  ) {}

  /**
   * New handshakes use the present files and later changes; open connections stay open.
   * @param onOtherAuthorities is called once the authorities of clients have changed
   * @throws ConfigurationError when a file cannot be read or is invalid
   */
  async keepCurrent(
    port: Port,
    server: ServedCertificate['server'],
    onOtherAuthorities: () => void = () => undefined,
  ): Promise<void> {
    const set =
      port === 'PORT'
        ? tlsFileSet('SERVICE_TLS', this.http.tls)
        : tlsFileSet('ADMIN_TLS', this.admin.tls);
    if (set === null) {
      return;
    }
    const files = pollTlsFiles(set, (reason) =>
      this.logger.error(`The changed certificate files of ${port} are not used: ${reason}`),
    );
    const context = (await files.load()) ?? {};
    server.setSecureContext(context);
    this.served.set(port, { server, files, onOtherAuthorities, authorities: context.ca });
  }

  /** True if a file changed to something that cannot be used. */
  get hasUnusedChange(): boolean {
    return [...this.served.values()].some(({ files }) => files.hasUnusedChange);
  }

  @Interval(LOOK_EVERY_MS)
  async poll(): Promise<void> {
    for (const [port, served] of this.served) {
      const context = await served.files.poll();
      if (context !== null) {
        served.server.setSecureContext(context);
        if (context.ca !== served.authorities) {
          served.authorities = context.ca;
          served.onOtherAuthorities();
        }
        this.logger.log(`The certificate files of ${port} have changed and are in use.`);
      }
    }
  }
}
