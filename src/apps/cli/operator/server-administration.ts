import {
  GatehouseAdmin,
  type AccountAct,
  type AdminInvitation,
  type CreatedInvitation,
  type ListedAccount,
} from '../../../packages/client/api/admin-client.js';
import { onRefusal } from '../../../packages/client/api/problem.js';
import { parseServerUrl } from '../../../packages/client/api/server-url.js';
import { parseJson } from '../../../common/parse-json.js';
import {
  ConfigurationError,
  ConfigurationReport,
} from '../../../server/config/environment/configuration-error.js';
import { gatherTexts } from '../../../server/config/read-environment.js';
import { VARIABLE_NAMES, variableOf } from '../../../server/config/settings.js';
import { FIELDS_WITH_FILES } from '../../../server/config/providers-file/provider-entry.js';
import {
  readCertificateRules,
  type CertificateRulesValues,
} from '../../../server/config/rules/certificate-rules.js';
import type { NamedAuditEvent } from '../../../core/policy/audit-event.js';
import type { AccountExplanation } from '../../../core/policy/findings/explain-account.js';
import type { AdminAct } from '../../../server/storage/repositories/account-admin.repository.js';
import { notLoggedInError, usageError } from '../cli-error.js';
import type { CliContext } from '../command.js';
import { decodeInput, readInputFile, readSecretFile } from '../input.js';
import {
  notFound,
  paged,
  requireUuid,
  type ActReport,
  type Administration,
  type EndedRefusal,
  type ExplainedAnswer,
  type PlanReport,
  type ShownEvents,
  type WantedInvitation,
} from './administration.js';
import { serverFetch } from '../server-fetch.js';
import type { AdminContext } from './with-administration.js';

const PAGE = 200;
const PROVIDERS = 'AUTH_PROVIDERS_CONFIG_JSON';
/** The other files need not be on this computer. */
const READ_HERE: readonly string[] = ['SERVICE_PRESET', PROVIDERS, `${PROVIDERS}_FILE`];
const RULES_FILE = 'SERVICE_FEATURE_AUTH_MTLS__RULES_PATH';
const ISSUERS = 'SERVICE_FEATURE_AUTH_MTLS__ALLOWED_ISSUERS';
const DOMAINS = 'SERVICE_FEATURE_AUTH_MTLS__ALLOWED_EMAIL_DOMAINS';
const TOKEN_CODES = ['missing-token', 'invalid-token', 'token-expired'];

const ACTS: Readonly<Record<AdminAct, AccountAct>> = {
  'account-disabled': 'disable',
  'account-enabled': 'enable',
  'all-tokens-revoked': 'revoke',
  'recheck-requested': 'recheck',
  'account-deleted': 'delete',
};

/** @throws CliError `usage`, `no-token`, or the code of the server's refusal */
export async function throughServer(
  { environment, options }: AdminContext,
  url: string,
  work: (administration: Administration) => Promise<void>,
): Promise<void> {
  const serverUrl = parseServerUrl(url);
  if (serverUrl === null) {
    throw usageError('--admin-url must be an http(s) address.');
  }
  if (options.actor !== undefined) {
    throw usageError('--actor does not go with --admin-url: the token has a name.');
  }
  const token = (
    options.adminTokenFile === undefined
      ? (environment['GATEHOUSE_ADMIN_TOKEN'] ?? '')
      : await readSecretFile(options.adminTokenFile)
  ).trim();
  if (token === '') {
    const hint = 'Set GATEHOUSE_ADMIN_TOKEN, or --admin-token-file.';
    throw notLoggedInError('There is no token for the administration API.', 'no-token', hint);
  }
  const api = new GatehouseAdmin({ serverUrl, token, fetch: serverFetch });
  const refused = onRefusal(TOKEN_CODES, ({ code }) => {
    const hint = "Compare the token to the server's ADMIN_TOKENS_FILE.";
    throw notLoggedInError('The server does not accept the token.', code, hint);
  });
  await work(new ServerAdministration(api)).catch(refused);
}

class ServerAdministration implements Administration {
  constructor(private readonly api: GatehouseAdmin) {}

  accounts(text: string | null, max: number): AsyncGenerator<ListedAccount> {
    return paged(PAGE, max, async (after: string | null, limit) => {
      const query = { query: text ?? undefined, limit, cursor: after ?? undefined };
      const { accounts: rows, cursor: next } = await this.api.accounts(query);
      return { rows, next };
    });
  }

  async act(act: AdminAct, id: string, reason: string): Promise<ActReport> {
    requireUuid('account', id);
    const { name: actor } = await this.api.me();
    const { changed } = await found('account', id, this.api.act(id, ACTS[act], reason));
    const servers = 'Running servers were notified: it takes effect now.';
    return { outcome: changed ? 'done' : 'unchanged', actor, servers };
  }

  async explain(id: string): Promise<ExplainedAnswer> {
    requireUuid('account', id);
    const { keyMode, disabledAt, explain } = await found('account', id, this.api.account(id));
    return { keyMode, disabledAt, explanation: explain as unknown as AccountExplanation };
  }

  audit(filter: ShownEvents): AsyncGenerator<NamedAuditEvent> {
    return paged(PAGE, Infinity, async (after: string | null, limit) => {
      const page = { order: 'oldest-first', limit, cursor: after ?? undefined } as const;
      const { events, cursor: next } = await this.api.audit({ ...filter, ...page });
      return { rows: events as readonly NamedAuditEvent[], next };
    });
  }

  createInvitation(wanted: WantedInvitation): Promise<CreatedInvitation> {
    return this.api.createInvitation(wanted);
  }

  invitations(): AsyncGenerator<AdminInvitation> {
    return paged(PAGE, Infinity, async (after: string | null, limit) => {
      const query = { limit, cursor: after ?? undefined };
      const { invitations: rows, cursor: next } = await this.api.invitations(query);
      return { rows, next };
    });
  }

  async revokeInvitation(id: string, reason: string): Promise<boolean> {
    requireUuid('invitation', id);
    const { changed } = await found('invitation', id, this.api.revokeInvitation(id, reason));
    return changed;
  }

  async endRefusal(provider: string, person: string, reason: string): Promise<EndedRefusal> {
    const { name: actor } = await this.api.me();
    const sent = this.api.endRefusal(provider, person, reason);
    const { changed } = await found('provider', provider, sent);
    return { changed, actor };
  }

  async plan(changes: CliContext['environment']): Promise<PlanReport> {
    const { policy, ...counts } = await this.api.plan(await plannable(changes));
    const { statements: present } = await this.api.policy();
    return { ...counts, present, planned: policy.statements };
  }
}

/** @throws CliError `not-found` where the server knows no such id */
function found<Answer>(
  kind: Parameters<typeof notFound>[0],
  id: string,
  sent: Promise<Answer>,
): Promise<Answer> {
  const refused = onRefusal(['not-found'], () => {
    throw notFound(kind, id);
  });
  return sent.catch(refused);
}

/** The server plans without secrets and names of files: it gets the content of those with rules. */
async function plannable(changes: CliContext['environment']): Promise<Record<string, string>> {
  const sent: Record<string, string> = {};
  for (const name of VARIABLE_NAMES) {
    const { type, secret } = variableOf(name);
    const text = changes[name];
    if (text !== undefined && type !== 'path' && secret !== true) {
      sent[name] = text;
    }
  }
  const providers = await changedProviders(changes);
  if (providers !== undefined) {
    sent[PROVIDERS] = withoutCredentials(providers.trim());
  }
  return { ...sent, ...certificateRules(changes) };
}

/** @returns undefined where the providers stay @throws ConfigurationError */
async function changedProviders(changes: CliContext['environment']): Promise<string | undefined> {
  const report = new ConfigurationReport();
  const text = gatherTexts(changes, report).get(PROVIDERS);
  const problems = report.problems.filter(({ variable }) => READ_HERE.includes(variable));
  if (problems.length > 0) {
    throw new ConfigurationError(problems);
  }
  const path = changes['AUTH_PROVIDERS_CONFIG_PATH'];
  return path === undefined || path === ''
    ? (text ?? changes[PROVIDERS] ?? path)
    : decodeInput(await readInputFile(path));
}

/** @throws ConfigurationError for an invalid file */
function certificateRules(environment: CliContext['environment']): Record<string, string> {
  const path = environment[RULES_FILE] ?? '';
  if (path === '') {
    return {};
  }
  const values: CertificateRulesValues = {
    [RULES_FILE]: path,
    // The server decides if domains apply.
    SERVICE_FEATURE_AUTH_MTLS__IDENTITY_SOURCE: 'san_email',
    [ISSUERS]: [],
    [DOMAINS]: [],
  };
  const report = new ConfigurationReport();
  const { allowedIssuers, allowedEmailDomains } = readCertificateRules(values, report);
  if (report.problems.length > 0) {
    throw new ConfigurationError(report.problems);
  }
  return {
    // Quoted, because a distinguished name contains commas.
    [ISSUERS]: allowedIssuers.map((name) => `"${name}"`).join(','),
    [DOMAINS]: allowedEmailDomains.join(','),
  };
}

/** @throws CliError for a text that is not JSON, because its secrets could not be found */
function withoutCredentials(providers: string): string {
  const entries = providers === '' ? [] : parseJson(providers);
  if (entries === undefined) {
    throw usageError('The providers of the proposed configuration are not valid JSON.');
  }
  const ofDirectory = ['token', 'tokenFile'];
  const left = ['clientSecret', 'sharedSignals', ...ofDirectory, ...FIELDS_WITH_FILES];
  return JSON.stringify(entries, (name, value: unknown) =>
    left.includes(name) ? undefined : value,
  );
}
