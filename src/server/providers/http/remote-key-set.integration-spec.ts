import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import { DIRECT } from '../../../../test/fixtures/provider-settings-fixture.js';
import { SteppedClock } from '../../../../test/fixtures/stepped-clock.js';
import { startLocalServer, type LocalServer } from '../../../../test/helpers/local-server.js';
import { Runtime } from '../../../common/runtime/runtime.js';
import { RemoteKeySet } from './remote-key-set.js';
import { UpstreamHttp } from './upstream-http.js';

const FIVE_MINUTES_MS = 5 * 60_000;
const DAY_MS = 24 * 3_600_000;

describe(RemoteKeySet, () => {
  let upstream: LocalServer;
  let published: JWK[];
  let requests = 0;
  let onRequest: () => void;
  let clock: SteppedClock;
  let keys: RemoteKeySet;
  let token: string;

  const signedBy = (key: CryptoKey, kid: string): Promise<string> =>
    new SignJWT({ sub: 'one' }).setProtectedHeader({ alg: 'ES256', kid }).sign(key);
  const verify = () => keys.verify(`${upstream.url}/jwks`, token, { algorithms: ['ES256'] });

  beforeAll(async () => {
    upstream = await startLocalServer(() => {
      requests += 1;
      onRequest();
      return { status: 200, json: { keys: published } };
    });
  });
  afterAll(() => upstream.close());

  beforeEach(async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    published = [{ ...(await exportJWK(publicKey)), kid: 'first', alg: 'ES256' }];
    token = await signedBy(privateKey, 'first');
    clock = new SteppedClock(DAY_MS);
    clock.setMs = Date.now();
    keys = new RemoteKeySet(new UpstreamHttp(new Runtime(clock), DIRECT), clock);
    requests = 0;
    onRequest = () => undefined;
  });

  it('keeps the keys for five minutes', async () => {
    await verify();
    published = [];
    await clock.advance(FIVE_MINUTES_MS - 1);
    await expect(verify()).resolves.toMatchObject({ payload: { sub: 'one' } });
    expect(requests).toBe(1);
    await clock.advance(1);
    await expect(verify()).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });
  });

  it('counts the five minutes from the request, whose answer may be late', async () => {
    onRequest = () => (clock.setMs += FIVE_MINUTES_MS);
    await verify();
    published = [];
    await expect(verify()).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });
  });

  it('refuses a withdrawn key after five minutes where the wall clock was set back', async () => {
    await verify();
    published = [];
    clock.setMs -= DAY_MS;
    await clock.advance(FIVE_MINUTES_MS);
    await expect(verify()).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });
  });
});
