import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { Interval } from '@nestjs/schedule';
import { Runtime } from '../../../common/runtime/runtime.js';
import { findExpiries, type Expiry } from '../../../core/policy/findings/expiry.js';
import type { LockoutFinding } from '../../../core/policy/findings/lockout.js';
import { readExpiries, type ExpirySettings } from './expiry.js';
import { RevocationListService } from './revocation-list.service.js';

const READ_EVERY_MS = 60_000;

/** Watches the ends of certificates, revocation lists and client secrets, and logs what is near. */
@Injectable()
export class ExpiryService implements OnApplicationBootstrap {
  private readonly logger = new Logger('Expiry');
  private readonly settings: ExpirySettings;
  private known: readonly Expiry[] = [];
  private logged = new Set<string>();

  constructor(
    private readonly lists: RevocationListService,
    private readonly runtime: Runtime,
    config: ConfigService<ExpirySettings, true>,
  ) {
    const read = <Name extends keyof ExpirySettings>(name: Name): ExpirySettings[Name] =>
      config.get(name, { infer: true });
    this.settings = {
      http: read('http'),
      mtls: read('mtls'),
      admin: read('admin'),
      network: read('network'),
      providers: read('providers'),
    };
  }

  onApplicationBootstrap(): Promise<void> {
    return this.poll();
  }

  @Interval(READ_EVERY_MS)
  async poll(): Promise<void> {
    const read = await readExpiries(this.settings, () => this.runtime.timers.nextTurn());
    this.known = [...read, ...this.downloads()];
    const findings = this.findings();
    for (const { severity, message } of findings) {
      if (!this.logged.has(message)) {
        this.logger[severity === 'error' ? 'error' : 'warn'](message);
      }
    }
    this.logged = new Set(findings.map(({ message }) => message));
  }

  current(): readonly Expiry[] {
    return this.known;
  }

  findings(): LockoutFinding[] {
    return findExpiries(this.known, this.runtime.clock.now());
  }

  private downloads(): Expiry[] {
    return this.lists.configuredLists().map(({ host, list }) => ({
      variable: 'SERVICE_FEATURE_AUTH_MTLS__CRL_URLS',
      kind: 'revocation_list',
      name: host,
      startsAt: list.thisUpdate,
      expiresAt: list.validUntil,
    }));
  }
}
