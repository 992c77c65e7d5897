import { createPrivateKey } from 'node:crypto';
import type { ConfigurationReport } from '../configuration-error.js';
import type { Checked } from '../environment/variable.js';
import type { VariableName, Values } from '../environment/env.js';
import { withoutTrailingSlash } from '../http.config.js';
import { insecureFailure } from './provider-entry.js';
import { callbackUrl, isOAuthConfigured } from './providers-file.js';
import type { GitHubProviderSettings } from '../providers.config.js';
import { userEntryFailure } from '../../policy/eligibility/eligibility.js';

const PUBLIC_GITHUB = 'https://github.com';
const PUBLIC_API = 'https://api.github.com';

/** GitHub as an identity provider; null when no client is configured. */
export function readGitHubProvider(
  values: Values,
  secretFiles: Checked['secretFiles'],
  report: ConfigurationReport,
): GitHubProviderSettings | null {
  const clientId = values.GITHUB_CLIENT_ID;
  const clientSecret = values.GITHUB_CLIENT_SECRET;
  if (clientId === null || clientSecret === null) {
    checkLeftovers(values, report);
    return null;
  }
  const baseUrl = withoutTrailingSlash(values.GITHUB_BASE_URL) ?? PUBLIC_GITHUB;
  const membershipSource = values.AUTH_GITHUB_ORG_MEMBERSHIP_SOURCE ?? defaultSource(values);
  checkAddresses(values, report);
  checkUsers(values, report);
  checkMembershipSource(values, membershipSource, report);
  const redirectUrl =
    values.GITHUB_REDIRECT_URL ?? callbackUrl(values.SERVICE_PUBLIC_URL, 'github');
  return {
    type: 'github',
    id: 'github',
    displayName: 'GitHub',
    isOAuthConfigured: isOAuthConfigured(values, redirectUrl),
    ui: { iconHint: 'github', buttonColor: null },
    clientId,
    clientSecret,
    clientSecretFile: secretFiles.get('GITHUB_CLIENT_SECRET') ?? null,
    redirectUrl,
    baseUrl,
    apiUrl: withoutTrailingSlash(values.GITHUB_API_URL) ?? defaultApiUrl(baseUrl),
    allowedUsers: values.AUTH_GITHUB_ALLOWED_USERS,
    allowedOrgs: values.AUTH_GITHUB_ALLOWED_ORGS,
    orgMatch: values.AUTH_GITHUB_ORG_MATCH,
    orgMembershipSource: membershipSource,
    webhookSecret: values.AUTH_GITHUB_WEBHOOK_SECRET,
    webhookSecretFile: secretFiles.get('AUTH_GITHUB_WEBHOOK_SECRET') ?? null,
    app: appOf(values, report),
  };
}

function defaultSource(values: Values): GitHubProviderSettings['orgMembershipSource'] {
  return values.AUTH_GITHUB_APP_ID === null ? 'oauth_user_token' : 'github_app';
}

function defaultApiUrl(baseUrl: string): string {
  return baseUrl === PUBLIC_GITHUB ? PUBLIC_API : `${baseUrl}/api/v3`;
}

/** A half-configured client is a mistake; allowlists without one are rules that do nothing. */
function checkLeftovers(values: Values, report: ConfigurationReport): void {
  const { GITHUB_CLIENT_ID: clientId, GITHUB_CLIENT_SECRET: clientSecret } = values;
  if (clientId === null && clientSecret !== null) {
    report.problemOnce('GITHUB_CLIENT_ID', 'is missing although GITHUB_CLIENT_SECRET is set.');
  }
  if (clientId !== null && clientSecret === null) {
    report.problemOnce('GITHUB_CLIENT_SECRET', 'is missing although GITHUB_CLIENT_ID is set.');
  }
  if (clientId !== null || clientSecret !== null) {
    return;
  }
  const lists: VariableName[] = ['AUTH_GITHUB_ALLOWED_USERS', 'AUTH_GITHUB_ALLOWED_ORGS'];
  for (const name of lists) {
    if (values[name]?.toString() !== '') {
      report.warn(`${name} has no effect: GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET are not set.`);
    }
  }
}

function checkAddresses(values: Values, report: ConfigurationReport): void {
  for (const name of ['GITHUB_BASE_URL', 'GITHUB_API_URL'] as const) {
    const address = values[name];
    const failure = address === null ? null : insecureFailure(new URL(address));
    if (failure !== null) {
      report.problem(name, failure);
    }
  }
}

function checkUsers(values: Values, report: ConfigurationReport): void {
  const failures = new Set(values.AUTH_GITHUB_ALLOWED_USERS.map(userEntryFailure));
  for (const failure of failures) {
    if (failure !== null) {
      report.problem('AUTH_GITHUB_ALLOWED_USERS', failure);
    }
  }
}

function checkMembershipSource(values: Values, source: string, report: ConfigurationReport): void {
  const isUsed = source === 'github_app' && values.AUTH_GITHUB_ALLOWED_ORGS.length > 0;
  if (isUsed && values.AUTH_GITHUB_APP_ID === null) {
    report.problemOnce(
      'AUTH_GITHUB_APP_ID',
      'is missing; AUTH_GITHUB_ORG_MEMBERSHIP_SOURCE=github_app reads memberships as that app.',
    );
  }
}

function appOf(values: Values, report: ConfigurationReport): GitHubProviderSettings['app'] {
  const id = values.AUTH_GITHUB_APP_ID;
  const privateKey = values.AUTH_GITHUB_APP_PRIVATE_KEY?.replaceAll('\\n', '\n') ?? null;
  if (privateKey !== null && !isPrivateKey(privateKey)) {
    report.problem('AUTH_GITHUB_APP_PRIVATE_KEY', 'must be an RSA private key in PEM form.');
  }
  if (id === null) {
    return null;
  }
  if (privateKey === null) {
    const why = 'is missing although AUTH_GITHUB_APP_ID is set.';
    report.problemOnce('AUTH_GITHUB_APP_PRIVATE_KEY', why);
    return null;
  }
  return { id, privateKey, installationIdByOrg: installationsOf(values) };
}

function installationsOf(values: Values): Record<string, string> {
  const pairs = values.AUTH_GITHUB_APP_INSTALLATION_ID_BY_ORG.map((item) => {
    const [org = '', id = ''] = item.split(/\s*[=:]\s*/);
    return [org.toLowerCase(), id] as const;
  });
  return Object.fromEntries(pairs);
}

function isPrivateKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}
