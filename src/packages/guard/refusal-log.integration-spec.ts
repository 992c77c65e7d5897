import { GuardFixture } from '../../../test/fixtures/guard-fixture.js';
import { ManualClock } from '../../../test/fixtures/manual-clock.js';
import type { Guard } from './guard.js';
import { RefusalLog } from './refusal-log.js';
import { makeKey, signWith } from './testing/test-keys.js';

describe(RefusalLog.name, () => {
  it('logs each reason at once, then once a minute with the number of the others', () => {
    const clock = new ManualClock();
    const reasons: unknown[] = [];
    const log = new RefusalLog(clock, ({ reason }) => reasons.push(reason));
    log.write('one');
    log.write('one');
    log.write('other');
    clock.nowMs += 59_999;
    log.write('one');
    expect(reasons).toEqual(['one', 'other']);
    clock.nowMs += 1;
    log.write('one');
    clock.nowMs += 60_000;
    log.write('one');
    expect(reasons.slice(2)).toEqual(['one; so were 2 since the last message', 'one']);
  });

  describe('of a guard', () => {
    let fixture: GuardFixture;
    let guard: Guard;
    beforeAll(async () => {
      fixture = await GuardFixture.start();
      guard = await fixture.readyGuard();
      await guard.verify(await fixture.issuer.token());
    });
    afterAll(() => fixture.close());

    const signed = (claims: object, typ = 'at+jwt'): Promise<string> =>
      signWith(fixture.issuer.signingKey, typ, { ...fixture.issuer.claims(), ...claims });

    it.each<[string, () => Promise<string> | string]>([
      ['its audience is not https://backend.test', () => signed({ aud: 'https://other.test' })],
      [
        'its audience is not https://backend.test alone',
        () => signed({ aud: ['https://backend.test', 'https://other.test'] }),
      ],
      ['its issuer is not ISSUER', () => signed({ iss: 'https://other.test' })],
      ['its type is not at+jwt', () => signed({}, 'JWT')],
      ['its "sid" is missing or not accepted', () => signed({ sid: undefined })],
      ['it has expired', () => fixture.issuer.token({ tokenSeconds: 0 })],
      ['it was issued later than now: the clocks differ', () => signed({ iat: 1_900_000_000 })],
      ['its session has expired', () => fixture.issuer.token({ sessionSeconds: 0 })],
      [
        'its algorithm is not ES256',
        () => signWith(fixture.issuer.signalSigningKey, 'at+jwt', fixture.issuer.claims()),
      ],
      [
        'its signature is wrong',
        async () => {
          const key = { ...(await makeKey('ES256')), kid: fixture.issuer.signingKey.kid };
          return signWith(key, 'at+jwt', fixture.issuer.claims());
        },
      ],
      ['it is not a signed JWT', () => 'x.y.z'],
      ['it is too long', () => 'x'.repeat(9000)],
    ])('has the reason that %s, which is not in the answer', async (reason, make) => {
      const error: unknown = await guard.verify(await make()).catch((refusal: unknown) => refusal);
      const expected = reason.replace('ISSUER', fixture.issuer.url);
      const entry = { level: 'info', message: 'a token was refused', reason: expected };
      expect(fixture.logged.at(-1)).toEqual(entry);
      const { headers, body } = error as { readonly headers: object; readonly body: object };
      expect(JSON.stringify([headers, body])).not.toContain(expected);
    });

    it('has the reason that the session ended', async () => {
      const token = await fixture.issuer.token({ sid: 'ended' });
      await fixture.issuer.endSession('ended');
      await fixture.until('the signal', () => fixture.issuer.waitingPolls === 1);
      await expect(guard.verify(token)).rejects.toMatchObject({ code: 'token-revoked' });
      expect(fixture.logged.at(-1)?.reason).toBe('its session has ended');
    });

    it('has no reason for a request without a token', async () => {
      const count = fixture.logged.length;
      await expect(guard.verify('')).rejects.toMatchObject({ code: 'missing-token' });
      expect(fixture.logged).toHaveLength(count);
    });
  });
});
