import { readFile, stat } from 'node:fs/promises';
import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { Interval } from '@nestjs/schedule';
import { PolledFiles } from '../../common/polled-files.js';
import { authConfig } from '../auth.config.js';
import { mtlsConfig, type MtlsSettings } from '../mtls.config.js';
import { providersConfig, type ProviderSettings } from '../providers.config.js';
import { readRuleFiles, ruleFilesConfig, type RuleFiles } from './rule-files.config.js';
import { deepFreeze } from '../settings.js';

const LOOK_EVERY_MS = 2000;

/** The settings that have rules, with the rules as they are now. */
export interface RuledSettings {
  readonly providers: readonly ProviderSettings[];
  readonly mtls: MtlsSettings;
}

/**
 * The operator's allow rules as they are now. Those of the providers file and of the certificate rules
 * file change while the server runs; whatever else is in them, as every variable, waits for a restart:
 * which providers there are, how they are reached, and what names an identity.
 */
@Injectable()
export class OperatorRules implements OnModuleInit {
  private readonly logger = new Logger(OperatorRules.name);
  private readonly listeners: ((now: RuledSettings, before: RuledSettings) => void)[] = [];
  private readonly files: PolledFiles<(string | null)[], RuleFiles>;
  private settings: RuledSettings;
  private isPolled = false;

  constructor(
    @Inject(ruleFilesConfig.KEY) private readonly config: ConfigType<typeof ruleFilesConfig>,
    @Inject(providersConfig.KEY) private readonly started: ConfigType<typeof providersConfig>,
    @Inject(mtlsConfig.KEY) mtls: ConfigType<typeof mtlsConfig>,
    @Inject(authConfig.KEY) private readonly auth: ConfigType<typeof authConfig>,
  ) {
    this.settings = { providers: started, mtls };
    this.files = new PolledFiles(
      () => Promise.all(config.paths.map(contentsOf)),
      () => readRuleFiles(config.values),
      (reason) => this.logger.error({ msg: 'changed rules are not used', reason }),
    );
  }

  async onModuleInit(): Promise<void> {
    const { paths } = this.config;
    const isFile = await Promise.all(paths.map(async (path) => (await stat(path)).isFile()));
    // A pipe can be read once.
    this.isPolled = paths.length > 0 && !isFile.includes(false);
  }

  /** Replaced as a whole by every change. */
  current(): RuledSettings {
    return this.settings;
  }

  /** Whether a file changed to something that cannot be used. */
  get hasUnusedChange(): boolean {
    return this.files.hasUnusedChange;
  }

  /** Calls back after every valid change of rules. */
  onChange(listener: (now: RuledSettings, before: RuledSettings) => void): void {
    this.listeners.push(listener);
  }

  @Interval(LOOK_EVERY_MS)
  async look(): Promise<void> {
    const files = this.isPolled ? await this.files.look() : null;
    if (files === null) {
      return;
    }
    this.logWhatWaits(files);
    const before = this.settings;
    const now = deepFreeze(withRules(before, files));
    if (JSON.stringify(now) === JSON.stringify(before)) {
      return;
    }
    this.settings = now;
    this.logger.log({ msg: 'changed rules are in use' });
    if (!this.auth.offboarding.enabled) {
      const msg = 'nothing is re-checked: changed rules count from the next login';
      this.logger.warn({ msg, variable: 'AUTH_OFFBOARDING_ENABLED' });
    }
    this.listeners.forEach((listener) => listener(now, before));
  }

  /** Differences that only a restart applies. */
  private logWhatWaits({ providers }: RuleFiles): void {
    const oidc = this.started.filter(({ type }) => type === 'oidc');
    const ids = new Set([...oidc, ...providers].map(({ id }) => id));
    const waiting = [...ids].filter(
      (id) => textWithoutRules(oidc, id) !== textWithoutRules(providers, id),
    );
    if (waiting.length > 0) {
      const msg = 'the providers file has changes that a restart applies; its rules are in use';
      this.logger.warn({ msg, providers: waiting });
    }
  }
}

function textWithoutRules(providers: readonly ProviderSettings[], id: string): string {
  const provider = providers.find((one) => one.id === id);
  // The file of a client secret is read again when it is used.
  const secret = (provider?.clientSecretFile ?? null) === null ? {} : { clientSecret: null };
  return JSON.stringify({ ...provider, ...secret, allow: null });
}

function withRules({ providers, mtls }: RuledSettings, files: RuleFiles): RuledSettings {
  return {
    providers: providers.map((provider) => {
      const changed = files.providers.find(({ id }) => id === provider.id);
      return provider.type === 'oidc' && changed !== undefined
        ? { ...provider, allow: changed.allow }
        : provider;
    }),
    mtls: { ...mtls, ...files.certificates },
  };
}

/** null = it cannot be read; the reader of the files says why. @throws Error for a pipe, whose reader would wait */
async function contentsOf(path: string): Promise<string | null> {
  const stats = await stat(path).catch(() => null);
  if (stats !== null && !stats.isFile()) {
    throw new Error('A file with rules was replaced by something that is not a file.');
  }
  return stats && readFile(path, 'utf8').catch(() => null);
}
