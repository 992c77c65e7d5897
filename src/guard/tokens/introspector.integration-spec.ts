import { GuardFixture } from '../../../test/fixtures/guard-fixture.js';
import { waitFor } from '../../../test/helpers/wait.js';
import type { GuardOptions } from '../guard-options.js';
import { Introspector } from './introspector.js';

let fixture: GuardFixture;
beforeEach(async () => {
  fixture = await GuardFixture.start();
});
afterEach(() => fixture.close());

type Claims = Readonly<Record<string, unknown>>;

/** A guard whose introspection answers what `claimsOf` makes of the token. */
function introspecting(
  cacheSeconds: number,
  claimsOf: (token: string) => Claims | Promise<Claims>,
) {
  const asked: string[] = [];
  const send: GuardOptions['fetch'] = async (input, init) => {
    const url = input as string;
    if (!url.endsWith('/introspect')) {
      return fetch(url, init);
    }
    const token = new URLSearchParams(init?.body as string).get('token') ?? '';
    asked.push(token);
    const headers = { date: new Date(fixture.time.now()).toUTCString() };
    return Response.json(await claimsOf(token), { headers });
  };
  return { asked, guard: fixture.guard({ introspection: { cacheSeconds }, fetch: send }) };
}

describe(Introspector.name, () => {
  it('admits the access of an active token', async () => {
    const claims = fixture.issuer.claims({ account: 'ada', sid: 's' });
    const { guard } = introspecting(10, () => ({ active: true, ...claims }));
    expect(await guard.verify('x')).toMatchObject({ account: 'ada', sid: 's' });
  });

  it.each([{ active: false }, { active: 'true' }, {}])('refuses a token with %j', async (state) => {
    const claims = { ...fixture.issuer.claims(), ...state };
    const { guard } = introspecting(10, () => claims);
    await expect(guard.verify('x')).rejects.toMatchObject({ code: 'invalid-token' });
  });

  it('refuses an active token of another backend', async () => {
    const claims = { ...fixture.issuer.claims(), active: true, aud: 'https://other.example' };
    const { guard } = introspecting(10, () => claims);
    await expect(guard.verify('x')).rejects.toMatchObject({ code: 'invalid-token' });
  });

  it('keeps answers by their token, and replaces old ones', async () => {
    const { guard, asked } = introspecting(10, (account) => ({
      ...{ active: true, ...fixture.issuer.claims({ account }) },
    }));
    const accountsOf = async (...tokens: string[]): Promise<string[]> =>
      (await Promise.all(tokens.map((token) => guard.verify(token)))).map(({ account }) => account);
    expect(await accountsOf('a', 'b', 'a')).toEqual(['a', 'b', 'a']);
    expect(asked).toEqual(['a', 'b']);
    await fixture.time.advance(10_000);
    expect(await accountsOf('a', 'a')).toEqual(['a', 'a']);
    expect(asked).toEqual(['a', 'b', 'a']);
  });

  it('keeps an answer when an earlier question fails', async () => {
    let fail = (): void => undefined;
    const failed = new Promise<Claims>((_done, reject) => (fail = () => reject(new Error('x'))));
    const { guard, asked } = introspecting(1, () =>
      asked.length === 1 ? failed : { active: true, ...fixture.issuer.claims() },
    );
    const first = guard.verify('x').catch(({ code }: { readonly code: string }) => code);
    await waitFor('the first question', () => asked.length === 1);
    await fixture.time.advance(1000);
    await guard.verify('x');
    fail();
    expect(await first).toBe('unavailable');
    await guard.verify('x');
    expect(asked).toHaveLength(2);
  });

  it('keeps 10,000 answers, and forgets the oldest', async () => {
    const { guard, asked } = introspecting(60, () => ({ active: false }));
    const ask = (token: string) => guard.verify(token).catch(() => undefined);
    const tokens = Array.from({ length: 10_000 }, (_one, index) => `t${index}`);
    for (const token of tokens) {
      await ask(token);
    }
    await ask('t0');
    expect(asked).toHaveLength(10_000);
    await ask('last');
    await ask('t1');
    expect(asked).toHaveLength(10_001);
    await ask('t0');
    expect(asked).toHaveLength(10_002);
  });
});
