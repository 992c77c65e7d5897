import type {
  AccountAdminRepository,
  AdminAct,
  AdministeredAccount,
} from '../../storage/account-admin.repository.js';
import { CliError } from '../cli-error.js';
import type { CliContext, CommandRun } from '../context.js';
import { EXIT } from '../exit-codes.js';
import { formatTime } from '../format-time.js';
import { operatorName } from '../operator-name.js';
import { tellServers, withDatabase, type OperatorMessage } from '../operator-database.js';

const PAGE = 500;
const DEFAULT_LIMIT = 1000;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Lists accounts in the order of their ids. */
export function list(context: CliContext): Promise<number> {
  const { limit = DEFAULT_LIMIT } = context.options;
  return withDatabase(context, async ({ accounts }) => {
    for (let left = limit, after: string | null = null; left > 0;) {
      const page: AdministeredAccount[] = await accounts.page(after, Math.min(left, PAGE));
      for (const { identities, ...account } of page) {
        const linked = identities.map(({ provider, login, status }) => ({
          provider,
          login,
          status,
        }));
        const value = { ...account, identities: linked };
        context.output.result(value, describe({ ...account, identities }));
      }
      left = page.length < PAGE ? 0 : left - page.length;
      after = page.at(-1)?.id ?? null;
    }
    return EXIT.ok;
  });
}

export const disable = changing('account-disabled', 'Disabled', (accountId) => ({
  accountId,
  closes: 'account-disabled',
}));

export const enable = changing('account-enabled', 'Enabled', (accountId) => ({ accountId }));

export const revoke = changing('all-tokens-revoked', 'Revoked all tokens of', (accountId) => ({
  accountId,
  closes: 'token-revoked',
}));

export const recheck = changing('recheck-requested', 'Will check again the identities of', () => ({
  isDue: true,
}));

/** @throws CliError when it is no id of an account */
export async function requireAccount(
  accounts: AccountAdminRepository,
  id: string,
): Promise<AdministeredAccount> {
  const account = UUID.test(id) ? await accounts.find(id) : null;
  if (account === null) {
    throw notFound(id);
  }
  return account;
}

function changing(
  act: AdminAct,
  done: string,
  messageFor: (accountId: string) => OperatorMessage,
): CommandRun {
  return (context) => {
    const [id = ''] = context.args;
    const reason = context.options.reason?.trim() ?? '';
    if (reason === '') {
      throw usage('--reason must say why: it is kept in the audit trail.');
    }
    const origin = { actor: operatorName(context), reason };
    return withDatabase(context, async ({ accounts, settings }) => {
      if (!UUID.test(id) || !(await accounts.act(act, id, origin, new Date()))) {
        throw notFound(id);
      }
      const servers = await tellServers(settings, messageFor(id));
      context.output.result(
        { accountId: id, act, ...origin, servers },
        `${done} ${id}.\n${servers}`,
      );
      return EXIT.ok;
    });
  };
}

function describe({ id, createdAt, keyMode, disabledAt, identities }: AdministeredAccount): string {
  const linked = identities.map(
    ({ provider, login, status }) => `${provider}:${login ?? '?'}=${status}`,
  );
  const state = disabledAt === null ? 'enabled' : `disabled since ${formatTime(disabledAt)}`;
  return [id, formatTime(createdAt), keyMode, state, ...linked].join('  ');
}

function notFound(id: string): CliError {
  return new CliError(`There is no account ${id}.`, {
    exitCode: EXIT.refused,
    code: 'not-found',
    hint: 'Run: gatehouse account list',
  });
}

function usage(message: string): CliError {
  return new CliError(message, { exitCode: EXIT.usage, code: 'usage' });
}
