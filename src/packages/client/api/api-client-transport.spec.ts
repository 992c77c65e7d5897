import { DeviceKey } from '../crypto/device-key.js';
import { Transport } from './api-client-transport.js';
import { GatehouseClient } from './api-client.js';
import type { GatehouseProblem } from './problem.js';

const SERVER = 'https://gate.example';

/** The refusal of a call that is answered so. */
async function problemOf(
  status: number,
  headers: Record<string, string> = {},
  body = '<html>',
): Promise<GatehouseProblem> {
  const answer: typeof fetch = () => Promise.resolve(new Response(body, { status, headers }));
  return new GatehouseClient({ serverUrl: SERVER, fetch: answer }).features().then(
    () => Promise.reject(new Error('It was accepted.')),
    (error: GatehouseProblem) => error,
  );
}

describe(Transport.name, () => {
  it.each([
    [502, 'the server, or a proxy in front of it, is unavailable for now.'],
    [503, 'the server, or a proxy in front of it, is unavailable for now.'],
    [429, 'a proxy in front of the server limits the rate of requests.'],
  ])('says what the page of a proxy with status %i means', async (status, meaning) => {
    const message = `${SERVER} answered ${status}: ${meaning}`;
    const facts = { code: 'unexpected-answer', status, message, isTemporary: true };
    expect(await problemOf(status)).toMatchObject(facts);
  });

  it('asks to check the address where another program answers', async () => {
    const message = `${SERVER} answered 404, and not as a Gatehouse server does. Check the address.`;
    expect(await problemOf(404)).toMatchObject({ message, isTemporary: false });
  });

  it.each(['30', new Date(Date.now() + 29_500).toUTCString()])(
    'reads when to try again from the Retry-After %j',
    async (header) => {
      const { retryAfterSeconds } = await problemOf(503, { 'retry-after': header });
      expect(retryAfterSeconds).toBeGreaterThan(0);
      expect(retryAfterSeconds).toBeLessThanOrEqual(30);
    },
  );

  it.each([
    ['a header', { 'retry-after': 'Thu, 01 Jan 2099 00:00:00 GMT' }, {}],
    ['a body', {}, { statusCode: 503, code: 'c', message: 'm', retryAfterSeconds: 1e300 }],
  ])(
    'limits the time to try again in %s to what a timer can wait',
    async (_name, headers, body) => {
      const { retryAfterSeconds = 0 } = await problemOf(503, headers, JSON.stringify(body));
      expect(retryAfterSeconds).toBeGreaterThan(2_000_000);
      expect(retryAfterSeconds * 1000).toBeLessThan(2 ** 31);
    },
  );

  it('names no code where an answer that is not HTTP has none', async () => {
    const cause = Object.assign(new Error('Expected HTTP/'), { code: undefined });
    const failing = () => Promise.reject(new TypeError('fetch failed', { cause }));
    const call = new GatehouseClient({ serverUrl: SERVER, fetch: failing }).features();
    await expect(call).rejects.toThrow(`Cannot reach ${SERVER}: the connection failed.`);
  });

  it('does not take the key for the ID of an account whose profile is unavailable', async () => {
    const answer: typeof fetch = (url) =>
      Promise.resolve(
        url === `${SERVER}/v1/auth`
          ? Response.json({ success: true, token: 't' })
          : new Response('<html>', { status: url === `${SERVER}/v1/account/profile` ? 502 : 404 }),
      );
    const client = new GatehouseClient({
      serverUrl: SERVER,
      fetch: answer,
      allowClientChallenge: true,
    });
    await expect(client.logIn(await DeviceKey.generate())).rejects.toMatchObject({ status: 502 });
  });
});
