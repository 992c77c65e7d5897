import { findLockouts, type LockoutFinding } from '../policy/findings/lockout.js';
import { checkAdmin } from './check-admin.js';
import { readCertificateRules } from './rules/certificate-rules.js';
import { checkMtls } from './check-settings.js';
import { checkTogether } from './check-settings.js';
import { ConfigurationError, ConfigurationReport } from './configuration-error.js';
import { deepFreeze, buildSettings, type Settings } from './settings.js';
import { gatherTexts, secretFilesIn, type EnvironmentText } from './environment-sources.js';
import { readValues } from './environment/read-values.js';
import { readCaBundle } from './environment/ca-bundle.js';
import { readGitHubProvider } from './providers-file/github-provider.js';
import { readOidcProviders } from './providers-file/providers-file.js';
import { checkUnknownNames } from './environment/unknown-names.js';

export interface ResolvedConfiguration {
  readonly settings: Settings;
  /** Sentences for the log: what was ignored or moved into its range. */
  readonly warnings: readonly string[];
  /** What the policy does that the operator may not have meant; never stops the start. */
  readonly findings: readonly LockoutFinding[];
}

/**
 * Resolves an environment into deep-frozen settings. Reads the files that variables name and
 * nothing else: no network. Throws one {@link ConfigurationError} with all problems.
 */
export function resolveSettings(environment: EnvironmentText): ResolvedConfiguration {
  const report = new ConfigurationReport();
  const texts = gatherTexts(environment, report);
  const values = readValues(texts, report);
  const set = Object.keys(environment).filter((name) => (environment[name] ?? '') !== '');
  checkUnknownNames(set, report);
  const secretFiles = secretFilesIn(environment);
  const github = readGitHubProvider(values, secretFiles, report);
  const oidc = readOidcProviders(values, report);
  const providers = github === null ? oidc : [github, ...oidc];
  const caBundle = readCaBundle(environment, values, report);
  const certificateRules = readCertificateRules(values, report);
  checkTogether(values, providers, report);
  checkMtls(values, texts, report);
  checkAdmin(values, providers, report);
  if (report.problems.length > 0) {
    throw new ConfigurationError(report.problems, report.warnings);
  }
  const checked = { values, providers, secretFiles, caBundle, certificateRules };
  const settings = deepFreeze(buildSettings(checked));
  return { settings, warnings: report.warnings, findings: findLockouts(settings) };
}
