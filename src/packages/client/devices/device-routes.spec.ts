import { waitForApproval } from './device-routes.js';
import type { DeviceToken } from '../api/api-client-answers.js';
import { GatehouseProblem, ServerUnreachable } from '../api/problem.js';

const APPROVED = { state: 'approved', token: 't', accountId: 'a', sealed: 's' } as const;
const PENDING = { state: 'pending' } as const;
const REQUEST = { id: 'i', intervalSeconds: 3 };

const problem = (status: number, code: string, retryAfterSeconds?: number): GatehouseProblem =>
  new GatehouseProblem({ status, code, message: code, retryAfterSeconds });

/** Waits with a server that returns these answers in order, and then `pending`. */
async function wait(...answers: readonly (DeviceToken | Error)[]) {
  const sleeps: number[] = [];
  const requests: string[] = [];
  const left = [...answers];
  const poll = (id: string, proof: string): Promise<DeviceToken> => {
    requests.push(`${id} ${proof}`);
    const next = left.shift() ?? PENDING;
    return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
  };
  let clock = 0;
  const sleep = (ms: number): Promise<void> => {
    clock += ms;
    return Promise.resolve(void sleeps.push(ms));
  };
  const wait = { sleep, monotonic: () => clock };
  const result: unknown = await waitForApproval({ poll }, REQUEST, 'p', wait).catch(
    (error: unknown) => error,
  );
  return { result, sleeps, requests };
}

/** Waits with a server that names this interval. */
async function waitForSeconds(intervalSeconds: number) {
  const sleeps: number[] = [];
  let clock = 0;
  const sleep = (ms: number): Promise<void> => {
    clock += ms;
    return Promise.resolve(void sleeps.push(ms));
  };
  const poll = (): Promise<DeviceToken> => Promise.resolve(PENDING);
  const wait = { sleep, monotonic: () => clock };
  const waiting = waitForApproval({ poll }, { id: 'i', intervalSeconds }, 'p', wait);
  await expect(waiting).rejects.toThrow('in time');
  return { sleeps };
}

describe(waitForApproval, () => {
  it('polls at the interval until the device is approved', async () => {
    const { result, sleeps, requests } = await wait(PENDING, PENDING, APPROVED);
    expect(result).toBe(APPROVED);
    expect(sleeps).toEqual([3000, 3000, 3000]);
    expect(requests).toEqual(['i p', 'i p', 'i p']);
  });

  it('waits as long as requested, and never less than the interval', async () => {
    const { result, sleeps } = await wait(
      problem(429, 'rate-limited', 7),
      problem(503, 'unavailable', 1),
      problem(502, 'unexpected-answer'),
      new ServerUnreachable('https://gate.example', 'there is no network'),
      APPROVED,
    );
    expect(result).toBe(APPROVED);
    expect(sleeps).toEqual([3000, 7000, 3000, 3000, 3000]);
  });

  it.each([
    ['refused', { state: 'refused' } as const],
    ['expired', problem(404, 'not-found')],
  ])('ends when the request is %s', async (reason, answer) => {
    const { result, sleeps } = await wait(PENDING, answer);
    expect(result).toMatchObject({ name: 'DeviceNotAdded', reason });
    expect(sleeps).toHaveLength(2);
  });

  it('fails with any other refusal', async () => {
    const wrong = problem(400, 'invalid-proof');
    expect((await wait(wrong)).result).toBe(wrong);
  });

  it('ends when the request has expired, for any answer', async () => {
    const away = new ServerUnreachable('https://gate.example', 'there is no network');
    const { result, sleeps } = await wait(...Array<Error>(1000).fill(away));
    expect(result).toMatchObject({ name: 'DeviceNotAdded', reason: 'expired' });
    expect(sleeps.reduce((sum, ms) => sum + ms)).toBe(630_000);
  });

  it('never polls without a pause', async () => {
    const sleeps: number[] = [];
    const poll = (): Promise<DeviceToken> => Promise.resolve(PENDING);
    const sleep = (ms: number): Promise<void> => Promise.resolve(void sleeps.push(ms));
    const hostile = { id: 'i', intervalSeconds: 0 };
    const wait = { sleep, monotonic: () => sleeps.length * 1000 };
    await expect(waitForApproval({ poll }, hostile, 'p', wait)).rejects.toThrow('in time');
    expect(new Set(sleeps)).toEqual(new Set([1000]));
  });

  it('ends by its own clock, however long the server takes or makes it wait', async () => {
    const slow = { clock: 0, polls: 0 };
    const poll = (): Promise<DeviceToken> => {
      slow.polls += 1;
      slow.clock += 300_000;
      return Promise.resolve(PENDING);
    };
    const sleep = (ms: number): Promise<void> => Promise.resolve(void (slow.clock += ms));
    const wait = { sleep, monotonic: () => slow.clock };
    await expect(waitForApproval({ poll }, REQUEST, 'p', wait)).rejects.toThrow('in time');
    expect(slow.polls).toBe(3);
    const { sleeps } = await waitForSeconds(1e9);
    expect(sleeps).toEqual([630_000]);
  });

  it('ends when the caller aborts', async () => {
    const poll = (): Promise<DeviceToken> => Promise.resolve(PENDING);
    const sleep = (): Promise<void> => Promise.reject(new Error('closed'));
    await expect(waitForApproval({ poll }, REQUEST, 'p', { sleep })).rejects.toThrow('closed');
  });
});
