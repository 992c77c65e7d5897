import { logIn, type Answer } from '../../helpers/client.js';
import { startServer, type Server } from '../../fixtures/programs/server-fixture.js';
import { createStore } from '../../fixtures/programs/store-fixture.js';
import {
  AccountCalls,
  encrypted,
  OPTIONAL,
  OPTIONAL_PLAIN,
  plain,
} from '../../helpers/account-calls.js';

const POLICIES = {
  required_e2ee: { SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: 'required_e2ee' },
  optional: OPTIONAL,
} as const;

const MODES = ['e2ee', 'plain'] as const;
const KINDS = ['encrypted', 'plain'] as const;

type Policy = keyof typeof POLICIES;
type Mode = (typeof MODES)[number];
type Kind = (typeof KINDS)[number];
type Act = keyof typeof ACTS;

const CONTENT = { encrypted: encrypted('c2VhbGVk'), plain: plain({ theme: 'dark' }) } as const;

const ACTS = {
  'settings v1': (account: AccountCalls, _mode: Mode, kind: Kind) =>
    account.writeSettings(kind === 'encrypted' ? 'c2VhbGVk' : { theme: 'dark' }, 0),
  'settings v2': (account: AccountCalls, _mode: Mode, kind: Kind) =>
    account.writeSettingsV2(CONTENT[kind], 0),
  credentials: (account: AccountCalls, _mode: Mode, kind: Kind) =>
    account.putCredential('github', CONTENT[kind]),
  migrate: (account: AccountCalls, mode: Mode, kind: Kind) =>
    account.migrate({
      toMode: mode === 'e2ee' ? 'plain' : 'e2ee',
      expectedSettingsVersion: 0,
      settings: CONTENT[kind],
      credentials: [],
    }),
} as const;

const NO_PLAIN = 'plaintext-writes-disabled';
const MISMATCH = 'content-mode-mismatch';
const V2 = 'plain-account-requires-settings-v2';

/** The order is [e2ee account: encrypted, plain; plain account: encrypted, plain]. */
const ANY_WRITE = {
  required_e2ee: ['ok', NO_PLAIN, MISMATCH, NO_PLAIN],
  optional: ['ok', MISMATCH, MISMATCH, 'ok'],
} as const satisfies Record<Policy, readonly string[]>;

const EXPECTED: Record<Act, Record<Policy, readonly string[]>> = {
  'settings v1': {
    required_e2ee: ['ok', 'invalid-request', V2, 'invalid-request'],
    optional: ['ok', 'invalid-request', V2, 'invalid-request'],
  },
  'settings v2': ANY_WRITE,
  credentials: ANY_WRITE,
  // A migration changes the mode: of an e2ee account to plain, of a plain one to e2ee.
  migrate: {
    required_e2ee: [NO_PLAIN, NO_PLAIN, 'ok', NO_PLAIN],
    optional: [MISMATCH, 'ok', 'ok', MISMATCH],
  },
};

const STATUS: Readonly<Record<string, number>> = {
  ok: 200,
  'invalid-request': 400,
  [MISMATCH]: 400,
  [V2]: 400,
  [NO_PLAIN]: 403,
};

interface Cell {
  readonly act: Act;
  readonly mode: Mode;
  readonly kind: Kind;
  readonly expected: string;
}

function cellsOf(policy: Policy): Cell[] {
  return (Object.keys(ACTS) as Act[]).flatMap((act) =>
    MODES.flatMap((mode, row) =>
      KINDS.map((kind, column) => ({
        act,
        mode,
        kind,
        expected: EXPECTED[act][policy][row * 2 + column] ?? '',
      })),
    ),
  );
}

function codeOf({ status, body }: Answer): string {
  if (status !== 200) {
    return String(body['code']);
  }
  return body['success'] === true ? 'ok' : String(body['error']);
}

/** There are more accounts of each mode than cells, so that each cell has its own. */
const tokens: Record<Mode, string[]> = { e2ee: [], plain: [] };

const signUp = async (mode: Mode, env: Record<string, string>): Promise<void> => {
  const server = await startServer({ store, env });
  for (let made = 0; made < 2 * 2 * Object.keys(ACTS).length; made += 1) {
    tokens[mode].push((await logIn(server)).token);
  }
  await server.stop();
};

const store = await createStore();
await signUp('e2ee', OPTIONAL);
await signUp('plain', OPTIONAL_PLAIN);

afterAll(() => store.drop());

describe('the permitted writes', () => {
  describe.each(Object.keys(POLICIES) as Policy[])('under %s', (policy) => {
    let server: Server;

    beforeAll(async () => {
      server = await startServer({ store, env: POLICIES[policy] });
    });

    afterAll(() => server.stop());

    it.each(cellsOf(policy))(
      '$act, $mode account, $kind content: $expected',
      async ({ act, mode, kind, expected }) => {
        const account = new AccountCalls(server, tokens[mode].pop() ?? '');
        const before = await stateOf(account);
        expect(before.mode).toBe(mode);
        const answer = await ACTS[act](account, mode, kind);
        expect({ code: codeOf(answer), status: answer.status }).toEqual({
          code: expected,
          status: STATUS[expected],
        });
        const after = await stateOf(account);
        if (expected === 'ok') {
          expect(after).not.toEqual(before);
        } else {
          expect(after).toEqual(before);
        }
      },
    );
  });

  const stateOf = async (account: AccountCalls) => ({
    mode: (await account.encryption()).body['mode'],
    settings: (await account.settingsV2()).body,
    credentials: (await account.credentials()).body,
  });
});
