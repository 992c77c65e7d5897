import { setImmediate as nextTurn } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import { GuardFixture } from '../../../../test/fixtures/guard-fixture.js';
import { waitFor } from '../../../../test/helpers/wait.js';
import { Random } from '../../../common/runtime/random.js';
import { readOptions, type GuardOptions } from '../guard-options.js';
import { IssuerClient } from '../issuer/issuer-client.js';
import { makeKey, signWith } from '../testing/test-keys.js';
import { Introspector } from './introspector.js';
import { KeySet } from './key-set.js';
import { TokenVerifier } from './token-verifier.js';

let fixture: GuardFixture;
beforeEach(async () => {
  fixture = await GuardFixture.start();
});
afterEach(() => fixture.close());

type Claims = Readonly<Record<string, unknown>>;

/** A guard whose introspection answers what `answerTo` makes of the claims of an active token. */
function introspecting(
  cacheSeconds: number,
  answerTo: (claims: Claims) => Claims | Promise<Claims> = (claims) => claims,
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
    return Response.json(await answerTo({ active: true, ...decodeJwt(token) }), { headers });
  };
  return { asked, guard: fixture.guard({ introspection: { cacheSeconds }, fetch: send }) };
}

describe(Introspector.name, () => {
  it('admits the access of an active token', async () => {
    const { guard } = introspecting(10);
    const token = await fixture.issuer.token({ account: 'ada', sid: 's' });
    expect(await guard.verify(token)).toMatchObject({ account: 'ada', sid: 's' });
  });

  it.each([{ active: false }, { active: 'true' }, {}])('refuses a token with %j', async (state) => {
    const { guard } = introspecting(10, (claims) => ({
      ...claims,
      active: undefined,
      ...state,
    }));
    const verified = guard.verify(await fixture.issuer.token());
    await expect(verified).rejects.toMatchObject({ code: 'invalid-token' });
    const reason = 'Gatehouse answers that it is not active';
    expect(fixture.logged).toContainEqual(expect.objectContaining({ reason }));
  });

  it('refuses an active token of another backend', async () => {
    const { guard } = introspecting(10, (claims) => ({ ...claims, aud: 'https://other.example' }));
    const verified = guard.verify(await fixture.issuer.token());
    await expect(verified).rejects.toMatchObject({ code: 'invalid-token' });
  });

  it('asks once for 50 simultaneous requests, and makes no stream', async () => {
    const { guard, asked } = introspecting(10);
    await guard.ready();
    const token = await fixture.issuer.token();
    await Promise.all(Array.from({ length: 50 }, () => guard.verify(token)));
    expect([asked, fixture.issuer.streamCount]).toEqual([[token], 0]);
  });

  it('asks each time without a cache', async () => {
    const { guard, asked } = introspecting(0);
    const token = await fixture.issuer.token();
    await guard.verify(token);
    await guard.verify(token);
    expect(asked).toEqual([token, token]);
  });

  it('holds a connection until the token expires', async () => {
    const { guard } = introspecting(10);
    const access = await guard.verify(await fixture.issuer.token({ tokenSeconds: 60 }));
    const ends: string[] = [];
    guard.hold(access, (end) => ends.push(end));
    await fixture.time.advance(60_000);
    expect(ends).toEqual(['token-expired']);
  });

  it.each([-62_000, 62_000])('answers 503 with a clock that is %i ms wrong', async (offset) => {
    fixture.clock.wallOffsetMs = offset;
    const { guard } = introspecting(10);
    const verified = guard.verify(await fixture.issuer.token());
    await expect(verified).rejects.toMatchObject({ status: 503, code: 'unavailable' });
  });

  it('asks about 50 tokens at once without a warning of Node', async () => {
    const guard = fixture.guard({ introspection: { cacheSeconds: 10 } });
    const warnings: Error[] = [];
    const note = (warning: Error): unknown => warnings.push(warning);
    process.on('warning', note);
    try {
      const tokens = await Promise.all(Array.from({ length: 50 }, () => fixture.issuer.token()));
      await Promise.all(tokens.map((token) => guard.verify(token)));
      await nextTurn();
    } finally {
      process.off('warning', note);
    }
    expect(warnings).toEqual([]);
  });

  it('answers 503 while Gatehouse is away, and keeps no failure', async () => {
    const guard = fixture.guard({ introspection: { cacheSeconds: 10 } });
    // Otherwise the keys, and not the question, would be missing.
    await guard.verify(await fixture.issuer.token({ sid: 'other' }));
    const token = await fixture.issuer.token();
    fixture.issuer.isAvailable = false;
    await expect(guard.verify(token)).rejects.toMatchObject({ status: 503, code: 'unavailable' });
    fixture.issuer.isAvailable = true;
    await fixture.time.advance(1000);
    await guard.verify(token);
  });

  it('asks about no token that a stranger made up', async () => {
    const { guard, asked } = introspecting(10);
    const { kid } = fixture.issuer.signingKey;
    const forged = { ...(await makeKey('ES256')), kid };
    const tokens = ['x', 'a.b.c', await signWith(forged, 'at+jwt', fixture.issuer.claims())];
    for (const token of tokens) {
      await expect(guard.verify(token)).rejects.toMatchObject({ code: 'invalid-token' });
    }
    expect(asked).toEqual([]);
  });

  it('asks about no token that has expired, unless the clocks may differ', async () => {
    const { guard, asked } = introspecting(0);
    const token = await fixture.issuer.token({ tokenSeconds: 60 });
    await fixture.time.advance(119_000);
    await expect(guard.verify(token)).rejects.toMatchObject({ code: 'invalid-token' });
    expect(asked).toEqual([token]);
    await fixture.time.advance(2000);
    await expect(guard.verify(token)).rejects.toMatchObject({ code: 'token-expired' });
    expect(asked).toHaveLength(1);
  });

  it('waits for no answer once the guard is closed', async () => {
    let isAsked = false;
    const send: GuardOptions['fetch'] = (input, init) => {
      isAsked = (input as string).endsWith('/introspect');
      return isAsked
        ? new Promise((_done, reject) => {
            init?.signal?.addEventListener('abort', () => reject(new Error('aborted')));
          })
        : fetch(input, init);
    };
    const guard = fixture.guard({ introspection: { cacheSeconds: 1 }, fetch: send });
    const verified = guard.verify(await fixture.issuer.token()).catch((error: unknown) => error);
    await waitFor('the question', () => isAsked);
    await guard.close();
    expect(await verified).toMatchObject({ code: 'unavailable' });
  });

  it('keeps answers by their token, and replaces old ones', async () => {
    const { guard, asked } = introspecting(10);
    const [a = '', b = ''] = await Promise.all(
      ['a', 'b'].map((account) => fixture.issuer.token({ account })),
    );
    const accountsOf = async (...tokens: string[]): Promise<string[]> =>
      (await Promise.all(tokens.map((token) => guard.verify(token)))).map(({ account }) => account);
    expect(await accountsOf(a, b, a)).toEqual(['a', 'b', 'a']);
    // Their signatures are verified at once, in any order.
    expect([...asked].sort()).toEqual([a, b].sort());
    await fixture.time.advance(9999);
    expect(await accountsOf(a, a)).toEqual(['a', 'a']);
    expect(asked).toHaveLength(2);
    await fixture.time.advance(1);
    expect(await accountsOf(a, a)).toEqual(['a', 'a']);
    expect(asked.slice(2)).toEqual([a]);
  });

  it('keeps an answer when an earlier question fails', async () => {
    let fail = (): void => undefined;
    const failed = new Promise<Claims>((_done, reject) => (fail = () => reject(new Error('x'))));
    const { guard, asked } = introspecting(1, (claims) => (asked.length === 1 ? failed : claims));
    const token = await fixture.issuer.token();
    const first = guard.verify(token).catch(({ code }: { readonly code: string }) => code);
    await waitFor('the first question', () => asked.length === 1);
    await fixture.time.advance(1000);
    await guard.verify(token);
    fail();
    expect(await first).toBe('unavailable');
    await guard.verify(token);
    expect(asked).toHaveLength(2);
  });

  it('forgets the oldest answer at its bound', async () => {
    const { clock, timers, issuer } = fixture;
    const runtime = { clock, timers, random: new Random() };
    const settings = readOptions({ ...issuer.guardOptions, introspection: { cacheSeconds: 60 } });
    const client = new IssuerClient(settings, runtime);
    const keys = new KeySet(() => client.keySet(`${issuer.url}/v1/oauth/jwks`), runtime);
    const verifier = new TokenVerifier(settings, runtime, keys);
    const introspector = new Introspector(settings, runtime, client, verifier, 2);
    const [a = '', b = '', c = ''] = await Promise.all(
      ['a', 'b', 'c'].map((account) => issuer.token({ account })),
    );
    const asked: number[] = [];
    for (const token of [a, b, a, c, b, a]) {
      await introspector.verify(token);
      asked.push(issuer.requestsTo('/v1/oauth/introspect'));
    }
    expect(asked).toEqual([1, 2, 2, 3, 3, 4]);
  });
});
