import { call, makeDeviceKey, refusalOf, type Answer } from '../../../helpers/client.js';
import {
  begin,
  callbackOf,
  logInAtProvider,
  finalize,
  loginThrough,
  profile,
  startLoginFixture,
} from '../../../fixtures/provider-login-fixture.js';

const MANY = 50;

const fixture = await startLoginFixture();
const server = fixture.server;
afterAll(() => fixture.stop());

const times = <Value>(count: number, make: (index: number) => Promise<Value>): Promise<Value[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)));

function tally(words: readonly unknown[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words.map(String)) {
    counts[word] = (counts[word] ?? 0) + 1;
  }
  return counts;
}

const wordOf = (answer: Answer): unknown =>
  answer.status === 200 ? 'success' : refusalOf(answer).code;

describe(`${MANY} simultaneous requests`, () => {
  it('creates one pending login for callbacks with one state', async () => {
    const { url } = await begin(server);
    const at = await callbackOf(server, url, 'anna');
    const answers = await times(MANY, () => call(server, 'GET', at.pathname + at.search));
    const words = answers.map(({ headers }) => {
      const query = new URL(String(headers.location)).searchParams;
      return query.get('error') ?? (query.has('pending') ? 'pending' : 'neither');
    });
    expect(tally(words)).toEqual({ pending: 1, invalid_state: MANY - 1 });
  });

  it('creates one account when as many keys finalize one pending login', async () => {
    const { url, proof } = await begin(server);
    const { pending } = await logInAtProvider(url, 'clara');
    const answers = await times(MANY, () => finalize(server, pending, makeDeviceKey(), { proof }));
    expect(tally(answers.map(wordOf))).toEqual({ success: 1, 'invalid-pending': MANY - 1 });
  });

  it('creates one account for logins of one new identity with one key, and all succeed', async () => {
    const key = makeDeviceKey();
    const logins = await times(MANY, async () => {
      const { url, proof } = await begin(server);
      return { proof, pending: (await logInAtProvider(url, 'dora'))['pending'] };
    });
    const answers = await Promise.all(
      logins.map(({ pending, proof }) => finalize(server, pending, key, { proof })),
    );
    expect(tally(answers.map(wordOf))).toEqual({ success: MANY });
    expect(new Set(answers.map(({ body }) => body['accountId'])).size).toBe(1);
    expect(answers.filter(({ body }) => body['created'] === true)).toHaveLength(1);
    const { body } = await profile(server, String(answers[0]?.body['token']));
    expect(body['identities']).toHaveLength(1);
  });

  it('links one new identity to one of as many keys', async () => {
    const logins = await times(MANY, async () => {
      const { url, proof } = await begin(server);
      return { proof, pending: (await logInAtProvider(url, 'emma'))['pending'] };
    });
    const answers = await Promise.all(
      logins.map(({ pending, proof }) => finalize(server, pending, makeDeviceKey(), { proof })),
    );
    expect(tally(answers.map(wordOf))).toEqual({
      success: 1,
      'provider-already-linked': MANY - 1,
    });
  });

  it('links one of many identities of a provider to one new key', async () => {
    const key = makeDeviceKey();
    const answers = await times(10, (index) => loginThrough(server, `frida-${index}`, key));
    expect(tally(answers.map(wordOf))).toEqual({ success: 1, 'provider-already-linked': 9 });
  });
});
