import type { AdminAct } from '../../../server/storage/repositories/account-admin.repository.js';
import { command, type CommandGroup, type CommandSpec } from '../command.js';
import { refusedError, usageError } from '../cli-error.js';
import { ACTOR, FIELDS, REASON, reasonIn, wholeNumber } from '../options.js';
import { formatMinute, type Listing } from '../output.js';
import type { ShownAccount } from './administration.js';
import { ADMIN_OPTIONS, WITH_ADMINISTRATION, withAdministration } from './with-administration.js';

const DEFAULT_LIMIT = 1000;
const DEFAULT_FOUND = 20;

const limitOption = (fallback: number) =>
  [
    '--limit <count>',
    `at most this many (default ${fallback})`,
    { parse: wholeNumber(1, 1_000_000_000) },
  ] as const;

export const account: CommandGroup = {
  name: 'account',
  description: 'find, list, disable, enable, revoke, re-check or delete accounts of this server',
  help: WITH_ADMINISTRATION,
  commands: [
    command({
      name: 'find',
      description: 'find accounts by id, or by a part of a login or an e-mail address',
      args: [['<text>', 'for example alice@example.com']],
      options: [limitOption(DEFAULT_FOUND), FIELDS, ...ADMIN_OPTIONS],
      examples: ['gatehouse account find alice@example.com --admin-url https://admin.example.com'],
      run(context) {
        const [text = ''] = context.args;
        const { limit = DEFAULT_FOUND } = context.options;
        if (text.trim() === '') {
          throw usageError('Say what to find: an id, a login or an e-mail address.');
        }
        return withAdministration(context, async (administration) => {
          const found = listed(administration.accounts(text.trim(), limit));
          if ((await context.output.list({ ...LISTING, empty: null }, found)) === 0) {
            throw refusedError(`No account is found by ${text}.`, 'not-found');
          }
        });
      },
    }),
    command({
      name: 'list',
      description: 'list accounts with their identities, the last seen ones first',
      options: [limitOption(DEFAULT_LIMIT), FIELDS, ...ADMIN_OPTIONS],
      examples: ['gatehouse account list --json --fields id,identities'],
      run(context) {
        const { limit = DEFAULT_LIMIT } = context.options;
        return withAdministration(context, async (administration) => {
          await context.output.list(LISTING, listed(administration.accounts(null, limit)));
        });
      },
    }),
    changing({
      name: 'disable',
      description: 'refuse an account until it is enabled again',
      act: 'account-disabled',
      done: 'Disabled',
      reason: 'laptop stolen',
    }),
    changing({
      name: 'enable',
      description: 'admit a disabled account again',
      act: 'account-enabled',
      done: 'Enabled',
      reason: 'laptop found again',
    }),
    changing({
      name: 'revoke',
      description: 'revoke all tokens of an account',
      act: 'all-tokens-revoked',
      done: 'Revoked all tokens of',
      reason: 'token in a public log',
    }),
    changing({
      name: 'recheck',
      description: "check an account's identities with their providers now",
      act: 'recheck-requested',
      done: 'Will check again the identities of',
      reason: 'added to the group today',
    }),
    changing({
      name: 'delete',
      description: 'delete an account with everything it stores',
      act: 'account-deleted',
      done: 'Deleted',
      reason: 'asked by its owner',
    }),
  ],
};

interface Change {
  readonly name: string;
  readonly description: string;
  readonly act: AdminAct;
  readonly done: string;
  readonly reason: string;
}

function changing({ name, description, act, done, reason: example }: Change): CommandSpec {
  return command({
    name,
    description,
    args: [['<id>', 'id of the account']],
    options: [REASON, ACTOR, ...ADMIN_OPTIONS],
    examples: [
      `gatehouse account ${name} 7f7c0c2e-4b0b-4a5e-9f63-3a1d7c1b7a52 --reason '${example}'`,
    ],
    run(context) {
      const [accountId = ''] = context.args;
      const reason = reasonIn(context.options);
      return withAdministration(context, async (administration) => {
        const { outcome, actor, servers } = await administration.act(act, accountId, reason);
        const changed = outcome === 'done';
        const value = { accountId, act, changed, actor, reason, servers };
        const text = changed ? `${done} ${accountId}.` : `Nothing to change for ${accountId}.`;
        context.output.result(value, `${text}\n${servers}`);
      });
    },
  });
}

async function* listed(accounts: AsyncIterable<ShownAccount>): AsyncGenerator<ShownAccount> {
  for await (const { id, createdAt, keyMode, disabledAt, identities } of accounts) {
    const linked = identities.map(({ provider, login, status }) => ({ provider, login, status }));
    yield { id, createdAt, keyMode, disabledAt, identities: linked };
  }
}

const LISTING: Listing<ShownAccount> = {
  fields: ['id', 'createdAt', 'keyMode', 'disabledAt', 'identities'],
  columns: [
    ['ID', ({ id }) => id],
    ['CREATED', ({ createdAt }) => formatMinute(createdAt)],
    ['KEY MODE', ({ keyMode }) => keyMode],
    [
      'STATE',
      ({ disabledAt }) =>
        disabledAt === null ? 'enabled' : `disabled since ${formatMinute(disabledAt)}`,
    ],
    [
      'IDENTITIES',
      ({ identities }) =>
        identities
          .map(({ provider, login, status }) => `${provider}:${login ?? '?'}=${status}`)
          .join('  '),
    ],
  ],
  empty: 'No accounts.',
};
