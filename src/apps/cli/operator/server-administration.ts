import { readFile } from 'node:fs/promises';
import { isUuid } from '../../../common/uuid.js';
import {
  GatehouseAdmin,
  type AccountAct,
  type AdminAccountPage,
  type AdminAuditPage,
  type AdminInvitation,
  type AdminInvitationPage,
  type ListedAccount,
} from '../../../packages/client/api/admin-client.js';
import { GatehouseProblem } from '../../../packages/client/api/problem.js';
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
import type { StoredAuditEvent } from '../../../core/policy/audit-event.js';
import type { AccountExplanation } from '../../../core/policy/findings/explain-account.js';
import type { PlanCounts } from '../../../core/policy/findings/plan-tally.js';
import type { AdminAct } from '../../../server/storage/repositories/account-admin.repository.js';
import { CliError, EXIT, usageError } from '../cli-error.js';
import type { CliContext } from '../command.js';
import {
  accountNotFound,
  type ActReport,
  type Administration,
  type EndedRefusal,
  type ExplainedAnswer,
  invitationNotFound,
  type MadeInvitation,
  providerNotFound,
  type ShownEvents,
  type WantedInvitation,
} from './administration.js';
import { serverFetch } from '../server-fetch.js';
import type { AdminContext } from './with-administration.js';

const PAGE = 200;
const PROVIDERS = 'AUTH_PROVIDERS_CONFIG_JSON';
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
  const token = (
    options.adminTokenFile === undefined
      ? (environment['GATEHOUSE_ADMIN_TOKEN'] ?? '')
      : await readFile(options.adminTokenFile, 'utf8')
  ).trim();
  if (token === '') {
    const hint = 'Set GATEHOUSE_ADMIN_TOKEN, or --admin-token-file.';
    const facts = { exitCode: EXIT.notLoggedIn, code: 'no-token', hint };
    throw new CliError('There is no token for the administration API.', facts);
  }
  try {
    await work(
      new ServerAdministration(new GatehouseAdmin({ serverUrl, token, fetch: serverFetch })),
    );
  } catch (error) {
    if (error instanceof GatehouseProblem && TOKEN_CODES.includes(error.code)) {
      const { code } = error;
      const hint = "Compare the token to the server's ADMIN_TOKENS_FILE.";
      throw new CliError('The server does not accept the token.', {
        exitCode: EXIT.notLoggedIn,
        code,
        hint,
      });
    }
    throw error;
  }
}

class ServerAdministration implements Administration {
  constructor(private readonly api: GatehouseAdmin) {}

  async *accounts(text: string | null, limit: number): AsyncGenerator<ListedAccount> {
    let cursor: string | null = null;
    let left = limit;
    do {
      const page: AdminAccountPage = await this.api.accounts({
        limit: Math.min(left, PAGE),
        ...(text !== null && { query: text }),
        ...(cursor !== null && { cursor }),
      });
      yield* page.accounts;
      left -= page.accounts.length;
      cursor = page.cursor;
    } while (cursor !== null && left > 0);
  }

  async act(
    act: AdminAct,
    id: string,
    actor: string | undefined,
    reason: string,
  ): Promise<ActReport> {
    refuseActor(actor);
    const { name } = await this.api.me();
    const { changed } = await known(id, () => this.api.act(id, ACTS[act], reason));
    return {
      outcome: changed ? 'done' : 'unchanged',
      actor: name,
      servers: 'Running servers were notified: it takes effect now.',
    };
  }

  async explain(id: string): Promise<ExplainedAnswer> {
    const { keyMode, disabledAt, explain } = await known(id, () => this.api.account(id));
    return { keyMode, disabledAt, explanation: explain as unknown as AccountExplanation };
  }

  async *audit({ since, person }: ShownEvents): AsyncGenerator<StoredAuditEvent> {
    let cursor: string | null = null;
    do {
      const page: AdminAuditPage = await this.api.audit({
        since,
        order: 'oldest-first',
        limit: PAGE,
        ...(person !== undefined && { person }),
        ...(cursor !== null && { cursor }),
      });
      yield* page.events as readonly StoredAuditEvent[];
      cursor = page.cursor;
    } while (cursor !== null);
  }

  async createInvitation(
    { note, ...wanted }: WantedInvitation,
    actor: string | undefined,
  ): Promise<MadeInvitation> {
    refuseActor(actor);
    return this.api.createInvitation({ ...wanted, ...(note !== null && { note }) });
  }

  async *invitations(): AsyncGenerator<AdminInvitation> {
    let cursor: string | null = null;
    do {
      const page: AdminInvitationPage = await this.api.invitations({
        limit: PAGE,
        ...(cursor !== null && { cursor }),
      });
      yield* page.invitations;
      cursor = page.cursor;
    } while (cursor !== null);
  }

  async revokeInvitation(id: string, actor: string | undefined, reason: string): Promise<boolean> {
    refuseActor(actor);
    const send = () => this.api.revokeInvitation(id, reason);
    const { changed } = await known(id, send, invitationNotFound);
    return changed;
  }

  async endRefusal(
    provider: string,
    person: string,
    actor: string | undefined,
    reason: string,
  ): Promise<EndedRefusal> {
    refuseActor(actor);
    const { name } = await this.api.me();
    const { changed } = await foundOr(
      () => this.api.endRefusal(provider, person, reason),
      () => providerNotFound(provider),
    );
    return { changed, actor: name };
  }

  async plan(environment: CliContext['environment']): Promise<PlanCounts> {
    return this.api.plan(await plannable(environment));
  }
}

/** @throws CliError `usage` */
function refuseActor(actor: string | undefined): void {
  if (actor !== undefined) {
    throw usageError('--actor does not go with --admin-url: the token has a name.');
  }
}

/** @throws CliError `not-found` where the id is unknown */
async function known<Answer>(
  id: string,
  send: () => Promise<Answer>,
  notFound = accountNotFound,
): Promise<Answer> {
  if (!isUuid(id)) {
    throw notFound(id);
  }
  return foundOr(send, () => notFound(id));
}

async function foundOr<Answer>(
  send: () => Promise<Answer>,
  notFound: () => CliError,
): Promise<Answer> {
  try {
    return await send();
  } catch (error) {
    throw error instanceof GatehouseProblem && error.code === 'not-found' ? notFound() : error;
  }
}

/** The server plans without secrets and names of files; a preset is sent as its variables. */
async function plannable(environment: CliContext['environment']): Promise<Record<string, string>> {
  const sent: Record<string, string> = {};
  const report = new ConfigurationReport();
  const texts = gatherTexts(environment, report);
  if (report.has('SERVICE_PRESET')) {
    throw new ConfigurationError(report.problems);
  }
  for (const name of VARIABLE_NAMES) {
    const { type, secret } = variableOf(name);
    const text = texts.get(name) ?? environment[name];
    const isSent = name === PROVIDERS || (type !== 'path' && secret !== true);
    if (text !== undefined && isSent && name !== 'SERVICE_PRESET') {
      sent[name] = text;
    }
  }
  const file = environment['AUTH_PROVIDERS_CONFIG_PATH'];
  if (file !== undefined && file !== '') {
    sent[PROVIDERS] = await readFile(file, 'utf8');
  }
  Object.assign(sent, certificateRules(environment));
  const providers = sent[PROVIDERS];
  return providers === undefined
    ? sent
    : { ...sent, [PROVIDERS]: withoutCredentials(providers.trim()) };
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
  const left: readonly string[] = ['clientSecret', 'token', 'tokenFile', ...FIELDS_WITH_FILES];
  return JSON.stringify(entries, (name, value: unknown) =>
    left.includes(name) ? undefined : value,
  );
}
