import type { Server as HttpsServer } from 'node:https';
import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { brandElsewhere } from '../http/branded-page.js';
import { adminConfig, type AdminSettings } from '../config/admin.config.js';
import { brandConfig, type BrandSettings } from '../config/brand.config.js';
import { httpConfig, type HttpSettings } from '../config/http.config.js';
import { listenOn } from '../network/listen-host.js';
import { ProviderRegistry } from '../providers/provider.registry.js';
import { AdminTlsService } from './access/admin-tls.service.js';
import { createAdminApp } from './create-admin-app.js';

/** Listens on ADMIN_PORT, if it is configured. */
@Injectable()
export class AdminListenerService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Administration');
  private app: NestFastifyApplication | null = null;

  constructor(
    private readonly server: ModuleRef,
    private readonly tls: AdminTlsService,
    private readonly providers: ProviderRegistry,
    @Inject(adminConfig.KEY) private readonly config: AdminSettings,
    @Inject(brandConfig.KEY) private readonly brand: BrandSettings,
    @Inject(httpConfig.KEY) private readonly http: HttpSettings,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { port, host, requestsPerMinute, trustedProxies, publicUrl, login } = this.config;
    if (port === null) {
      return;
    }
    const tls = await this.tls.options();
    const loginProvider = login.provider && this.providers.displayName(login.provider);
    const app = await createAdminApp(this.server, {
      tls,
      requestsPerMinute,
      trustedProxies,
      console: { brand: brandElsewhere(this.brand, this.http.publicUrl), publicUrl, loginProvider },
    });
    await this.tls.keepCurrent(app.getHttpServer() as HttpsServer);
    const names = { port: 'ADMIN_PORT', host: 'ADMIN_HOST' };
    await listenOn({ port, host }, names, (address) => app.listen(address));
    this.app = app;
    this.logger.log(`Administration on ${await app.getUrl()}`);
  }

  /** Waits for running requests before their dependencies are closed. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.app?.close();
  }
}
