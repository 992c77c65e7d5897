import { call, makeDeviceKey, refusalOf, type Answer } from '../helpers/client.js';
import type { Server } from '../helpers/server.js';
import {
  begin,
  callbackOf,
  comeBack,
  finalize,
  loginThrough,
  profile,
  startWorld,
  type World,
} from './external-world.js';

const MANY = 50;

let world: World;
let server: Server;

beforeAll(async () => {
  world = await startWorld();
  server = world.server;
});
afterAll(() => world.stop());

const times = <Value>(count: number, make: (index: number) => Promise<Value>): Promise<Value[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)));

/** How many answers there are of each kind. */
function tally(words: readonly unknown[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words.map(String)) {
    counts[word] = (counts[word] ?? 0) + 1;
  }
  return counts;
}

const wordOf = (answer: Answer): unknown =>
  answer.status === 200 ? 'success' : refusalOf(answer).code;

describe(`${MANY} at once`, () => {
  it('callbacks with one state make one pending login', async () => {
    const { url } = await begin(server);
    const at = await callbackOf(server, url, 'anna');
    const answers = await times(MANY, () => call(server, 'GET', at.pathname + at.search));
    const words = answers.map(({ headers }) => {
      const query = new URL(String(headers.location)).searchParams;
      return query.get('error') ?? (query.has('pending') ? 'pending' : 'neither');
    });
    expect(tally(words)).toEqual({ pending: 1, invalid_state: MANY - 1 });
  });

  it('finalizes of one pending login succeed once', async () => {
    const { url, proof } = await begin(server);
    const { pending } = await comeBack(url, 'berta');
    const key = makeDeviceKey();
    const answers = await times(MANY, () => finalize(server, pending, key, { proof }));
    expect(tally(answers.map(wordOf))).toEqual({ success: 1, 'invalid-pending': MANY - 1 });
  });

  it('finalizes of one pending login by as many keys make one account', async () => {
    const { url, proof } = await begin(server);
    const { pending } = await comeBack(url, 'clara');
    const answers = await times(MANY, () => finalize(server, pending, makeDeviceKey(), { proof }));
    expect(tally(answers.map(wordOf))).toEqual({ success: 1, 'invalid-pending': MANY - 1 });
  });

  it('logins of one new identity with one key make one account, and all succeed', async () => {
    const key = makeDeviceKey();
    const begun = await times(MANY, async () => {
      const { url, proof } = await begin(server);
      return { proof, pending: (await comeBack(url, 'dora'))['pending'] };
    });
    const answers = await Promise.all(
      begun.map(({ pending, proof }) => finalize(server, pending, key, { proof })),
    );
    expect(tally(answers.map(wordOf))).toEqual({ success: MANY });
    expect(new Set(answers.map(({ body }) => body['accountId'])).size).toBe(1);
    expect(answers.filter(({ body }) => body['created'] === true)).toHaveLength(1);
    const { body } = await profile(server, String(answers[0]?.body['token']));
    expect(body['identities']).toHaveLength(1);
  });

  it('logins of one new identity with as many keys give it to one of them', async () => {
    const begun = await times(MANY, async () => {
      const { url, proof } = await begin(server);
      return { proof, pending: (await comeBack(url, 'emma'))['pending'] };
    });
    const answers = await Promise.all(
      begun.map(({ pending, proof }) => finalize(server, pending, makeDeviceKey(), { proof })),
    );
    expect(tally(answers.map(wordOf))).toEqual({
      success: 1,
      'provider-already-linked': MANY - 1,
    });
  });

  it('identities of one provider with one new key leave it one of them', async () => {
    const key = makeDeviceKey();
    const answers = await times(10, (index) => loginThrough(server, `frida-${index}`, key));
    expect(tally(answers.map(wordOf))).toEqual({ success: 1, 'provider-already-linked': 9 });
  });
});
