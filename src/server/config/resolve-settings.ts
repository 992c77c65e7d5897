import { X509Certificate } from 'node:crypto';
import { CERTIFICATE_BLOCKS } from '../../core/x509/pem.js';
import { findLockouts, type LockoutFinding } from '../../core/policy/findings/lockout.js';
import { loginAddresses } from './browser.config.js';
import { hostsAccountPage } from './http.config.js';
import { checkSettings } from './check-settings.js';
import { ConfigurationError, ConfigurationReport } from './environment/configuration-error.js';
import type { EnvironmentText } from './environment/variable.js';
import { readOidcProviders } from './providers-file/providers-file.js';
import { readGitHubProvider } from './providers.config.js';
import { checkUnknownNames, gatherTexts, readValues, secretFileIn } from './read-environment.js';
import { readProgramClients } from './resource-servers/program-clients-file.js';
import { readResourceServers } from './resource-servers/resource-servers-file.js';
import { readCertificateRules } from './rules/certificate-rules.js';
import {
  buildSettings,
  deepFreeze,
  variableOf,
  type Settings,
  type Values,
  type VariableName,
} from './settings.js';
import { readSmallFile } from './environment/small-file.js';

export interface ResolvedConfiguration {
  readonly settings: Settings;
  /** Sentences for the log: what was ignored or moved into its range. */
  readonly warnings: readonly string[];
  /** Effects of the policy that the operator may not intend; they never stop the start. */
  readonly findings: readonly LockoutFinding[];
}

/** Reads the files that variables name. @throws ConfigurationError with all problems */
export function resolveSettings(environment: EnvironmentText): ResolvedConfiguration {
  const { problems, ...resolved } = readSettings(environment);
  if (problems.length > 0) {
    throw new ConfigurationError(problems, resolved.warnings);
  }
  return resolved;
}

/** A variable with a problem has its default in the settings, so that more can be checked. */
export function readSettings(
  environment: EnvironmentText,
): ResolvedConfiguration & Pick<ConfigurationReport, 'problems'> {
  const report = new ConfigurationReport();
  const texts = gatherTexts(environment, report);
  const values = readValues(texts, report);
  const set = Object.keys(environment).filter((name) => (environment[name] ?? '') !== '');
  checkUnknownNames(set, report);
  const secretFile = (name: VariableName): string | null => secretFileIn(environment, name);
  const addresses = loginAddresses(values);
  const github = readGitHubProvider(values, secretFile, addresses, report);
  const oidc = readOidcProviders(values, addresses, report);
  const providers = github === null ? oidc : [github, ...oidc];
  const caBundle = readCaBundle(values.SERVICE_CA_BUNDLE, environment, report);
  const certificateRules = readCertificateRules(values, report);
  const providerIds = [
    ...providers.map(({ id }) => id),
    ...(values.SERVICE_FEATURE_AUTH_MTLS__ENABLED ? ['mtls'] : []),
  ];
  const programClients = readProgramClients(values, report);
  const context = {
    providerIds,
    publicUrl: values.SERVICE_PUBLIC_URL,
    hostsAccountPage: hostsAccountPage(values),
    programs: programClients,
  };
  const resourceServers = readResourceServers(values, context, report);
  checkSettings(values, texts, providers, report);
  const rules = { providers, certificateRules, resourceServers, programClients };
  const checked = { values: withoutProblems(values, report), secretFile, caBundle, ...rules };
  const settings = deepFreeze(buildSettings(checked));
  const { problems, warnings } = report;
  return { settings, problems, warnings, findings: findLockouts(settings) };
}

function withoutProblems(values: Values, report: ConfigurationReport): Values {
  const entries = Object.entries(values).map(([name, value]) => [
    name,
    report.has(name) ? variableOf(name as VariableName).default : value,
  ]);
  return report.problems.length === 0 ? values : (Object.fromEntries(entries) as Values);
}

const BUNDLE = 'SERVICE_CA_BUNDLE';

/** Adds those of NODE_EXTRA_CA_CERTS, which older releases of Node.js ignore if a list is given. */
function readCaBundle(
  path: string | null,
  environment: EnvironmentText,
  report: ConfigurationReport,
): string | null {
  if (path === null) {
    return null;
  }
  const file = readSmallFile(path);
  if ('failure' in file) {
    report.problem(BUNDLE, `names the file ${path}, which ${file.failure}.`);
    return null;
  }
  const blocks = file.text.match(CERTIFICATE_BLOCKS) ?? [];
  if (blocks.length === 0 || !blocks.every(isCertificate)) {
    report.problem(BUNDLE, `names the file ${path}, which must have certificates in PEM.`);
    return null;
  }
  const extra = environment['NODE_EXTRA_CA_CERTS'] ?? '';
  const added = extra === '' ? { text: '' } : readSmallFile(extra);
  // Node.js itself warns of an unreadable file.
  const more =
    'text' in added ? (added.text.match(CERTIFICATE_BLOCKS) ?? []).filter(isCertificate) : [];
  return [...blocks, ...more].join('\n');
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}
