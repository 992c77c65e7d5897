import { ManualClock } from '../../../../test/fixtures/manual-clock.js';
import { ManualTimers } from '../../../../test/fixtures/manual-timers.js';
import { momentOf } from '../../../common/runtime/moment.js';
import { Random } from '../../../common/runtime/random.js';
import { IssuerFault, IssuerHttp, requireSameTime, type IssuerRequest } from './issuer-http.js';

const NOW = Date.UTC(2026, 9, 1);
const URL_OF_ISSUER = 'https://gate.example/path';
const MAX_BYTES = 4 * 1024 * 1024;

type Init = NonNullable<Parameters<typeof fetch>[1]>;

let clock: ManualClock;
let sent: [unknown, Init | undefined][];
beforeEach(() => {
  clock = new ManualClock(NOW);
  sent = [];
});

const clientOf = (answer: (init: Init) => Promise<Response>): IssuerHttp => {
  const send: typeof fetch = (url, init) => {
    sent.push([url, init]);
    return answer(init ?? {});
  };
  const runtime = { clock, timers: new ManualTimers(clock), random: new Random() };
  return new IssuerHttp({ fetch: send }, runtime);
};

const answering = (body: string | null, init: ResponseInit = {}): IssuerHttp =>
  clientOf(() => Promise.resolve(new Response(body, init)));

/** Answers no request before its signal aborts. */
const silent = (): IssuerHttp =>
  clientOf(
    ({ signal }) =>
      new Promise((_done, fail) => {
        signal?.addEventListener('abort', () => fail(new DOMException('Ended.', 'AbortError')));
      }),
  );

const faultOf = async (sending: Promise<unknown>): Promise<IssuerFault> => {
  const error: unknown = await sending.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(IssuerFault);
  return error as IssuerFault;
};

describe(IssuerHttp.name, () => {
  it('returns status, body and date of an answer', async () => {
    const date = new Date(NOW).toUTCString();
    const http = answering('{"a":1}', { status: 201, headers: { date } });
    expect(await http.send(URL_OF_ISSUER)).toEqual({ status: 201, body: { a: 1 }, dateMs: NOW });
  });

  it.each([[{}], [{ date: 'yesterday' }]])(
    'returns no date for the headers %j',
    async (headers) => {
      expect((await answering('{}', { headers }).send(URL_OF_ISSUER)).dateMs).toBeNull();
    },
  );

  it('reads an answer without a body as an empty object', async () => {
    const { body, status } = await answering(null, { status: 204 }).send(URL_OF_ISSUER);
    expect([status, body]).toEqual([204, {}]);
  });

  it.each<[string, IssuerRequest, Record<string, unknown>]>([
    [
      'a GET without a body',
      {},
      { method: 'GET', headers: { accept: 'application/json' }, body: null },
    ],
    [
      'a form',
      { method: 'POST', form: { a: '1 2', b: '&' }, headers: { authorization: 'Basic x' } },
      {
        method: 'POST',
        headers: {
          accept: 'application/json',
          authorization: 'Basic x',
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: 'a=1+2&b=%26',
      },
    ],
    [
      'JSON',
      { method: 'POST', json: { a: [1] } },
      {
        method: 'POST',
        headers: { accept: 'application/json', 'content-type': 'application/json' },
        body: '{"a":[1]}',
      },
    ],
  ])('sends %s, and follows no redirect', async (_what, request, expected) => {
    await answering('{}').send(URL_OF_ISSUER, request);
    expect(sent).toEqual([
      [URL_OF_ISSUER, { ...expected, redirect: 'manual', signal: expect.any(AbortSignal) }],
    ]);
  });

  it('sends nothing to an address that is not https', async () => {
    const fault = await faultOf(answering('{}').send('http://gate.example/token'));
    expect(fault.message).toBe('the metadata names an address that is not https');
    expect(sent).toEqual([]);
  });

  it.each([
    [503, {}, 0],
    [503, { 'retry-after': '3' }, 3000],
    [429, { 'retry-after': '3600' }, 10_000],
    [503, { 'retry-after': '-1' }, 0],
    [503, { 'retry-after': new Date(NOW + 4000).toUTCString() }, 4000],
    [503, { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }, 10_000],
    [302, { location: 'https://evil.example' }, 0],
  ])('refuses the status %i with %j', async (status, headers, retryAfterMs) => {
    const fault = await faultOf(answering('{}', { status, headers }).send(URL_OF_ISSUER));
    expect(fault).toMatchObject({
      message: `the answer has status ${status}`,
      status,
      retryAfterMs,
    });
  });

  it.each(['[]', 'null', '"x"', '7', '{', ' '])('refuses the body %j', async (body) => {
    const fault = await faultOf(answering(body).send(URL_OF_ISSUER));
    expect(fault).toMatchObject({ message: 'the answer is not a JSON object', status: 200 });
  });

  it('reads four megabytes, and no byte more', async () => {
    const text = '{}'.padEnd(MAX_BYTES);
    expect(await answering(text).send(URL_OF_ISSUER)).toMatchObject({ body: {} });
    const fault = await faultOf(answering(`${text} `).send(URL_OF_ISSUER));
    expect(fault).toMatchObject({ message: 'the answer is too large', status: 200 });
  });

  it('joins the parts of an answer', async () => {
    const parts = ['{"text":"Gr', '\u00fc', 'n"}'].map((part) => Buffer.from(part));
    const stream = new ReadableStream({
      start(controller) {
        parts.forEach((part) => controller.enqueue(new Uint8Array(part)));
        controller.close();
      },
    });
    const http = clientOf(() => Promise.resolve(new Response(stream)));
    expect((await http.send(URL_OF_ISSUER)).body).toEqual({ text: 'Gr\u00fcn' });
  });

  it.each([
    [{}, 5000],
    [{ limitMs: 15_000 }, 15_000],
  ])('ends a request with %j that is not answered after %i ms', async (request, limitMs) => {
    let isOver = false;
    const fault = faultOf(silent().send(URL_OF_ISSUER, request)).finally(() => (isOver = true));
    await clock.advance(limitMs - 1);
    expect(isOver).toBe(false);
    await clock.advance(1);
    expect(await fault).toMatchObject({ message: 'no answer in time', status: null });
  });

  it('cancels the limit of a request that was answered', async () => {
    await answering('{}').send(URL_OF_ISSUER);
    const signal = sent[0]?.[1]?.signal;
    await clock.advance(60_000);
    expect(signal?.aborted).toBe(false);
  });

  it.each([
    [
      new TypeError('fetch failed', {
        cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }),
      }),
      'ECONNREFUSED',
    ],
    [Object.assign(new Error('x'), { code: 'ENOTFOUND' }), 'ENOTFOUND'],
    [new Error('a secret'), 'unknown'],
    ['a secret', 'unknown'],
  ])('reports only the code of a connection that failed: %s', async (error, code) => {
    const http = clientOf(() => Promise.reject(error));
    const fault = await faultOf(http.send(URL_OF_ISSUER));
    expect(fault).toMatchObject({ message: `the connection failed: ${code}`, status: null });
  });

  it('ends waiting requests on close, and sends none but the last one', async () => {
    const http = silent();
    const fault = faultOf(http.send(URL_OF_ISSUER));
    http.close();
    expect(await fault).toMatchObject({ message: 'no answer in time' });
    await faultOf(http.send(URL_OF_ISSUER));
    expect(sent).toHaveLength(1);
    const last = faultOf(http.send(URL_OF_ISSUER, { isLast: true, limitMs: 10 }));
    expect([sent.length, sent.at(-1)?.[1]?.signal?.aborted]).toEqual([2, false]);
    await clock.advance(10);
    await last;
  });

  it.each<[string, (init: Init) => Promise<Response>]>([
    ['a fetch', () => new Promise(() => undefined)],
    ['a body', () => Promise.resolve(new Response(new ReadableStream()))],
  ])(
    'waits on close, and after the limit, for no %s that ignores the signal',
    async (_what, answer) => {
      const http = clientOf(answer);
      const limited = faultOf(http.send(URL_OF_ISSUER));
      await clock.advance(5000);
      expect(await limited).toMatchObject({ message: 'no answer in time' });
      const closed = faultOf(http.send(URL_OF_ISSUER));
      http.close();
      expect(await closed).toMatchObject({ message: 'no answer in time' });
    },
  );

  it('ends a request by its signal, also one that aborted before', async () => {
    const aborting = new AbortController();
    const { signal } = aborting;
    const http = silent();
    const fault = faultOf(http.send(URL_OF_ISSUER, { signal }));
    aborting.abort();
    expect(await fault).toMatchObject({ message: 'no answer in time' });
    await faultOf(http.send(URL_OF_ISSUER, { signal }));
    expect(sent).toHaveLength(1);
  });

  it('keeps no listener of a request that was answered', async () => {
    const http = answering('{}');
    await http.send(URL_OF_ISSUER);
    http.close();
    expect(sent[0]?.[1]?.signal?.aborted).toBe(false);
  });
});

describe(requireSameTime.name, () => {
  const answer = (dateMs: number | null) => ({ status: 200, body: {}, dateMs });

  it.each([-60_000, 0, 60_000])('accepts a clock that differs by %i ms', (ms) => {
    expect(() => requireSameTime(answer(NOW + ms), momentOf(clock), clock)).not.toThrow();
  });

  it.each([-60_001, 60_001])('refuses a clock that differs by %i ms', (ms) => {
    expect(() => requireSameTime(answer(NOW + ms), momentOf(clock), clock)).toThrow(
      'the clocks of this machine and of Gatehouse differ by over a minute',
    );
  });

  it('allows for the time of the request', async () => {
    const sentAt = momentOf(clock);
    await clock.advance(10_000);
    expect(() => requireSameTime(answer(NOW - 60_000), sentAt, clock)).not.toThrow();
    expect(() => requireSameTime(answer(NOW + 70_000), sentAt, clock)).not.toThrow();
  });

  it('refuses an answer without a date', () => {
    expect(() => requireSameTime(answer(null), momentOf(clock), clock)).toThrow(
      'the answer has no Date header',
    );
  });
});
