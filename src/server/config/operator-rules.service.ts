import { readFile, stat } from 'node:fs/promises';
import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { PolledFiles } from '../../common/polled-files.js';
import { capabilitiesOf } from '../../core/policy/eligibility/provider-rules.js';
import { authConfig, type AuthSettings } from './auth.config.js';
import { ConfigurationError, ConfigurationReport } from './environment/configuration-error.js';
import { mtlsConfig, type MtlsSettings } from './mtls.config.js';
import type { OidcProviderSettings, ProviderSettings } from './providers-file/provider-settings.js';
import { readOidcProviders } from './providers-file/providers-file.js';
import { providersConfig, type ConfiguredProviders } from './providers.config.js';
import { ruleFilesConfig, type RuleFilesConfig } from './rule-files.config.js';
import { readCertificateRules, type CertificateAllowRules } from './rules/certificate-rules.js';
import { deepFreeze } from './settings.js';

const LOOK_EVERY_MS = 2000;

interface RuleFiles {
  readonly providers: readonly OidcProviderSettings[];
  readonly certificates: CertificateAllowRules;
}

export interface RuledSettings {
  readonly providers: readonly ProviderSettings[];
  readonly mtls: MtlsSettings;
}

/** The current allow rules of the providers file and of the certificate rules file. */
@Injectable()
export class OperatorRulesService implements OnModuleInit {
  private readonly logger = new Logger(OperatorRulesService.name);
  private readonly listeners: ((now: RuledSettings, before: RuledSettings) => void)[] = [];
  private readonly files: PolledFiles<(string | null)[], RuleFiles>;
  private settings: RuledSettings;
  private isPolled = false;

  constructor(
    @Inject(ruleFilesConfig.KEY) private readonly config: RuleFilesConfig,
    @Inject(providersConfig.KEY) private readonly started: ConfiguredProviders,
    @Inject(mtlsConfig.KEY) mtls: MtlsSettings,
    @Inject(authConfig.KEY) private readonly auth: AuthSettings,
  ) {
    this.settings = { providers: started, mtls };
    this.files = new PolledFiles(
      () => Promise.all(config.paths.map(contentsOf)),
      () => readRuleFiles(config),
      (reason) => this.logger.error({ msg: 'changed rules are not used', reason }),
    );
  }

  async onModuleInit(): Promise<void> {
    const { paths } = this.config;
    const isFile = await Promise.all(paths.map(async (path) => (await stat(path)).isFile()));
    // A pipe can be read once.
    this.isPolled = paths.length > 0 && !isFile.includes(false);
  }

  current(): RuledSettings {
    return this.settings;
  }

  /** True if a file changed to something that cannot be used. */
  get hasUnusedChange(): boolean {
    return this.files.hasUnusedChange;
  }

  onChange(listener: (now: RuledSettings, before: RuledSettings) => void): void {
    this.listeners.push(listener);
  }

  @Interval(LOOK_EVERY_MS)
  async poll(): Promise<void> {
    const files = this.isPolled ? await this.files.poll() : null;
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

  private logWhatWaits({ providers }: RuleFiles): void {
    const started = this.started.filter((one) => capabilitiesOf(one).hasRulesFile);
    const ids = new Set([...started, ...providers].map(({ id }) => id));
    const waiting = [...ids].filter(
      (id) => textWithoutRules(started, id) !== textWithoutRules(providers, id),
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
      return changed === undefined ? provider : { ...provider, allow: changed.allow };
    }),
    mtls: { ...mtls, ...files.certificates },
  };
}

/** null = unreadable, which its reader reports. @throws Error for a pipe, which would block */
async function contentsOf(path: string): Promise<string | null> {
  const stats = await stat(path).catch(() => null);
  if (stats !== null && !stats.isFile()) {
    throw new Error('A file with rules was replaced by something that is not a file.');
  }
  return stats && readFile(path, 'utf8').catch(() => null);
}

/** @throws ConfigurationError with all problems of the files */
function readRuleFiles({ values, addresses }: RuleFilesConfig): RuleFiles {
  const report = new ConfigurationReport();
  const providers = readOidcProviders(values, addresses, report);
  const certificates = readCertificateRules(values, report);
  if (report.problems.length > 0) {
    throw new ConfigurationError(report.problems);
  }
  return { providers, certificates };
}
