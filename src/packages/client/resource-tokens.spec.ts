import { setImmediate as turn } from 'node:timers/promises';
import { Transport, type Fetch } from './api/api-client-transport.js';
import { ResourceTokens } from './resource-tokens.js';

const RELAY = 'https://relay.example.com';

/** A server that issues numbered tokens of 300 seconds, or refuses. */
function setup() {
  const refusal = null as object | null;
  const state = { now: 1_000_000, elapsed: 0, refusal, isAway: false };
  const clock = { now: () => state.now, elapsed: () => state.elapsed };
  const requests: { readonly body: string; readonly headers: Record<string, string> }[] = [];
  const send: Fetch = async (_url, { body = '', headers }) => {
    requests.push({ body, headers });
    await turn();
    if (state.isAway) {
      throw new TypeError('away');
    }
    const issued = { access_token: `token-${requests.length}`, expires_in: 300 };
    return state.refusal === null
      ? Response.json(issued)
      : Response.json(state.refusal, { status: 400 });
  };
  const transport = new Transport({
    serverUrl: 'https://gate.example.com',
    token: 's',
    fetch: send,
  });
  return { state, requests, tokens: new ResourceTokens(transport, 's', clock) };
}

describe(ResourceTokens.name, () => {
  it('exchanges once for 50 simultaneous calls', async () => {
    const { tokens, requests } = setup();
    const all = await Promise.all(Array.from({ length: 50 }, () => tokens.tokenFor(RELAY)));
    expect(new Set(all)).toEqual(new Set(['token-1']));
    expect(requests).toHaveLength(1);
    expect(Object.fromEntries(new URLSearchParams(requests[0]?.body))).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: 's',
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      resource: RELAY,
    });
    expect(requests[0]?.headers).not.toHaveProperty('authorization');
  });

  it('keeps a token, and renews it before it expires', async () => {
    const { tokens, requests, state } = setup();
    await tokens.tokenFor(RELAY);
    state.now += 239_999;
    expect(await tokens.tokenFor(RELAY)).toBe('token-1');
    state.now += 1;
    const all = await Promise.all(Array.from({ length: 50 }, () => tokens.tokenFor(RELAY)));
    expect(new Set(all)).toEqual(new Set(['token-2']));
    expect(requests).toHaveLength(2);
  });

  it.each([
    ['the clock was set back', -100_000, 0],
    ['the clock was set back during its life', 140_000, 240_000],
    ['the machine slept', 240_000, 0],
  ])('renews a token after %s', async (_name, wallMs, monotonicMs) => {
    const { tokens, state } = setup();
    await tokens.tokenFor(RELAY);
    state.now += wallMs;
    state.elapsed += monotonicMs;
    expect(await tokens.tokenFor(RELAY)).toBe('token-2');
  });

  it('returns the kept token while the server is away, until it expires', async () => {
    const { tokens, state } = setup();
    await tokens.tokenFor(RELAY);
    state.isAway = true;
    state.now += 299_999;
    expect(await tokens.tokenFor(RELAY)).toBe('token-1');
    state.now += 1;
    await expect(tokens.tokenFor(RELAY)).rejects.toMatchObject({ name: 'ServerUnreachable' });
    state.isAway = false;
    expect(await tokens.tokenFor(RELAY)).toBe('token-4');
  });

  it.each([429, 503])('returns the kept token at a refusal for now: %d', async (statusCode) => {
    const { tokens, state } = setup();
    await tokens.tokenFor(RELAY);
    state.refusal = { statusCode, code: 'unavailable', message: 'Later.' };
    state.now += 299_999;
    expect(await tokens.tokenFor(RELAY)).toBe('token-1');
    state.now += 1;
    await expect(tokens.tokenFor(RELAY)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('rejects with the refusal, and keeps none', async () => {
    const { tokens, state } = setup();
    await tokens.tokenFor(RELAY);
    state.now += 240_000;
    state.refusal = { statusCode: 400, code: 'provider-required', message: 'No.' };
    await expect(tokens.tokenFor(RELAY)).rejects.toMatchObject({ code: 'provider-required' });
    state.refusal = null;
    expect(await tokens.tokenFor(RELAY)).toBe('token-3');
  });

  it('keeps the tokens of backends apart', async () => {
    const { tokens } = setup();
    expect(await tokens.tokenFor(RELAY)).toBe('token-1');
    expect(await tokens.tokenFor('https://files.example.com')).toBe('token-2');
    expect(await tokens.tokenFor(RELAY)).toBe('token-1');
  });

  it('forgets a token on demand, also while the server is away', async () => {
    const { tokens, state } = setup();
    await tokens.tokenFor(RELAY);
    const renewed = [1, 2].map(() => tokens.tokenFor(RELAY, { renew: true }));
    expect(await Promise.all(renewed)).toEqual(['token-2', 'token-2']);
    expect(await tokens.tokenFor(RELAY)).toBe('token-2');
    state.isAway = true;
    const refused = tokens.tokenFor(RELAY, { renew: true });
    await expect(refused).rejects.toMatchObject({ name: 'ServerUnreachable' });
    await expect(tokens.tokenFor(RELAY)).rejects.toMatchObject({ name: 'ServerUnreachable' });
  });

  it('renews a token that the backend refuses, once, for all requests', async () => {
    const { tokens, requests } = setup();
    const sent: string[] = [];
    const send = async (token: string): Promise<{ readonly status: number }> => {
      sent.push(token);
      await turn();
      return { status: token === 'token-1' ? 401 : 200 };
    };
    const answers = await Promise.all([1, 2, 3].map(() => tokens.sendTo(RELAY, send)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(sent.toSorted()).toEqual([
      ...['token-1', 'token-1', 'token-1'],
      ...['token-2', 'token-2', 'token-2'],
    ]);
    expect(requests).toHaveLength(2);
  });

  it('returns the second refusal of a backend, and any other answer', async () => {
    const { tokens } = setup();
    const sent: string[] = [];
    const answering = (status: number) => (token: string) => {
      sent.push(token);
      return Promise.resolve({ status });
    };
    expect(await tokens.sendTo(RELAY, answering(403))).toEqual({ status: 403 });
    expect(await tokens.sendTo(RELAY, answering(401))).toEqual({ status: 401 });
    expect(sent).toEqual(['token-1', 'token-1', 'token-2']);
  });

  it('needs the token of a session', async () => {
    const transport = new Transport({ serverUrl: 'https://gate.example.com' });
    const tokens = new ResourceTokens(transport, undefined);
    await expect(tokens.tokenFor(RELAY)).rejects.toThrow(TypeError);
  });
});
