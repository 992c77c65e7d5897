import { userInfo } from 'node:os';
import { toOperatorName, type OperatorName } from '../../policy/audit-event.js';
import type {
  AccountAdminRepository,
  AdminAct,
  AdministeredAccount,
} from '../../storage/repositories/account-admin.repository.js';
import type {
  AccountPage,
  AccountPosition,
} from '../../storage/repositories/account-search.repository.js';
import { command, type CommandGroup, type CommandSpec } from '../command.js';
import { CliError, refusedError, usageError } from '../cli-error.js';
import { WITH_DATABASE, wholeNumber } from '../options.js';
import { formatTime } from '../output.js';
import type { OperatorMessage } from './notify-servers.js';

const PAGE = 500;
const DEFAULT_LIMIT = 1000;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Administers the accounts of this server. */
export const account: CommandGroup = {
  name: 'account',
  description: 'list, disable, enable, revoke or re-check accounts of this server',
  help: WITH_DATABASE,
  commands: [
    command({
      name: 'list',
      description: 'list accounts with their identities, in the order of their ids',
      options: [
        [
          '--limit <count>',
          'at most this many (default 1000)',
          { parse: wholeNumber(1, 1_000_000_000) },
        ],
      ],
      async run(context) {
        const { limit = DEFAULT_LIMIT } = context.options;
        const { withDatabase } = await import('./database.js');
        return withDatabase(context, async ({ search }) => {
          let after: AccountPosition | null = null;
          let left = limit;
          do {
            const page: AccountPage = await search.page({}, after, Math.min(left, PAGE));
            page.accounts.forEach((one) => context.output.result(listed(one), describe(one)));
            left -= page.accounts.length;
            after = page.next;
          } while (after !== null && left > 0);
        });
      },
    }),
    changing({
      name: 'disable',
      description: 'refuse an account until it is enabled again',
      act: 'account-disabled',
      done: 'Disabled',
      messageFor: (accountId) => ({ accountId, closes: 'account-disabled' }),
    }),
    changing({
      name: 'enable',
      description: 'admit a disabled account again',
      act: 'account-enabled',
      done: 'Enabled',
      messageFor: (accountId) => ({ accountId }),
    }),
    changing({
      name: 'revoke',
      description: 'revoke all tokens of an account',
      act: 'all-tokens-revoked',
      done: 'Revoked all tokens of',
      messageFor: (accountId) => ({ accountId, closes: 'token-revoked' }),
    }),
    changing({
      name: 'recheck',
      description: "check an account's identities with their providers now",
      act: 'recheck-requested',
      done: 'Will check again the identities of',
      messageFor: () => ({ isDue: true }),
    }),
  ],
};

interface Change {
  readonly name: string;
  readonly description: string;
  readonly act: AdminAct;
  readonly done: string;
  readonly messageFor: (accountId: string) => OperatorMessage;
}

function changing({ name, description, act, done, messageFor }: Change): CommandSpec {
  return command({
    name,
    description,
    args: [['<id>', 'id of the account']],
    options: [
      ['--reason <text>', 'why; kept in the audit trail', { isRequired: true }],
      ['--actor <name>', "who; kept in the audit trail (default: this system's user)"],
    ],
    async run(context) {
      const [id = ''] = context.args;
      const reason = context.options.reason?.trim() ?? '';
      if (reason === '') {
        throw usageError('--reason must say why: it is kept in the audit trail.');
      }
      const origin = { actor: operatorName(context.options.actor), reason };
      const { withDatabase } = await import('./database.js');
      const { notifyServers } = await import('./notify-servers.js');
      return withDatabase(context, async ({ accounts, settings }) => {
        const outcome = UUID.test(id)
          ? await accounts.act(act, id, origin, new Date())
          : 'not-found';
        if (outcome === 'not-found') {
          throw notFound(id);
        }
        const servers = await notifyServers(settings, messageFor(id));
        const value = { accountId: id, act, ...origin, servers };
        context.output.result(value, `${done} ${id}.\n${servers}`);
      });
    },
  });
}

/** @throws CliError `not-found` */
export async function requireAccount(
  accounts: AccountAdminRepository,
  id: string,
): Promise<AdministeredAccount> {
  const found = UUID.test(id) ? await accounts.find(id) : null;
  if (found === null) {
    throw notFound(id);
  }
  return found;
}

/**
 * The operator's name in the audit trail: `--actor`, by default the system's user.
 *
 * @throws CliError `usage` (exit code 2) for an invalid name
 */
function operatorName(actor: string | undefined): OperatorName {
  const text = actor ?? systemUser();
  const name = text === null ? null : toOperatorName(text);
  if (name === null) {
    throw usageError(
      actor === undefined
        ? "This system's user has no name that is valid in the audit trail: give one with --actor."
        : '--actor must be 1 to 64 printable characters, and not user, system or provider.',
    );
  }
  return name;
}

/** null where the user id has no entry, as in a container that runs with an arbitrary one. */
function systemUser(): string | null {
  try {
    return userInfo().username;
  } catch {
    return null;
  }
}

function listed({ identities, ...rest }: AdministeredAccount): object {
  const linked = identities.map(({ provider, login, status }) => ({ provider, login, status }));
  return { ...rest, identities: linked };
}

function describe({ id, createdAt, keyMode, disabledAt, identities }: AdministeredAccount): string {
  const linked = identities.map(
    ({ provider, login, status }) => `${provider}:${login ?? '?'}=${status}`,
  );
  const state = disabledAt === null ? 'enabled' : `disabled since ${formatTime(disabledAt)}`;
  return [id, formatTime(createdAt), keyMode, state, ...linked].join('  ');
}

function notFound(id: string): CliError {
  return refusedError(`There is no account ${id}.`, 'not-found', 'Run: gatehouse account list');
}
