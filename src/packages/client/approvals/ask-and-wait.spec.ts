import { createHash } from 'node:crypto';
import { GatehouseProblem, ServerUnreachable } from '../api/problem.js';
import { requestKeys } from '../crypto/request-keys.js';
import { AccountRequests, makeRequestId, type SealedRequest } from './account-requests.js';
import {
  askAndWait,
  type AskingServer,
  type AskOptions,
  type AskStore,
  type RequestState,
} from './ask-and-wait.js';

const ACCOUNT = 'account-1';
const NOW = 1_795_227_948_852;
const REQUESTS = new AccountRequests(
  requestKeys(createHash('sha256').update('secret').digest()),
  ACCOUNT,
);
const GARBAGE = { sealed: `1.${'A'.repeat(200)}`, session: 'thief' };

/** A server that returns prepared readings, and a computer whose time passes with each of them. */
class Scene implements AskingServer, AskStore {
  readonly log: string[] = [];
  elapsedMs = 0;
  wallOffsetMs = 0;
  ended: string | null = null;
  asked!: SealedRequest;
  readings: (() => Promise<Partial<RequestState>> | Partial<RequestState>)[] = [];

  static async start(lifetimeMs = 60_000): Promise<Scene> {
    const scene = new Scene();
    const asked = await REQUESTS.seal({
      ...{ v: 1, requestId: makeRequestId(), kind: 'permission', account: ACCOUNT },
      server: 'https://gate.example',
      session: { id: 's1', title: 'Fix' },
      tool: { name: 'Bash', input: { command: 'npm test' } },
      ...{ cwd: '/srv', host: 'laptop', askedAt: NOW, expiresAt: NOW + lifetimeMs },
    });
    scene.asked = asked!;
    return scene;
  }

  ask(options: Partial<AskOptions> = {}) {
    return askAndWait(this, REQUESTS, this.asked, {
      store: this,
      now: () => NOW + this.elapsedMs + this.wallOffsetMs,
      monotonic: () => this.elapsedMs,
      pause: (ms) => {
        this.elapsedMs += ms;
        return Promise.resolve();
      },
      onRefused: ({ session, reason }) => this.log.push(`refused ${session} ${reason}`),
      onUnreachable: () => this.log.push('unreachable'),
      ...options,
    });
  }

  answer(choice: 'allow' | 'deny') {
    const { request, digest } = this.asked;
    const { requestId } = request;
    return REQUESTS.sealAnswer({ v: 1, requestId, digest, choice, decidedAt: NOW });
  }

  create(): Promise<void> {
    this.log.push('create');
    return Promise.resolve();
  }

  async wait(_id: string, waitSeconds: number): Promise<RequestState> {
    const reading = this.readings.shift();
    if (reading === undefined) {
      this.elapsedMs += waitSeconds * 1000;
    }
    return { state: 'open', answers: [], ...(await reading?.()) };
  }

  reject(_id: string, session: string): Promise<void> {
    this.log.push(`reject ${session}`);
    return Promise.resolve();
  }

  close(_id: string, takenFrom: string | null): Promise<RequestState> {
    this.log.push(`close ${takenFrom}`);
    return Promise.resolve({ state: 'withdrawn', answers: [] });
  }

  save(): Promise<void> {
    this.log.push('save');
    return Promise.resolve();
  }

  end(_id: string, how: string, takenFrom: string | null): Promise<boolean> {
    const isFirst = this.ended === null;
    this.ended ??= how;
    this.log.push(takenFrom === null ? `end ${how}` : `end ${how} ${takenFrom}`);
    return Promise.resolve(isFirst);
  }
}

describe(askAndWait.name, () => {
  it('stores the request before it sends it, and marks it used before it returns the answer', async () => {
    const scene = await Scene.start();
    const sealed = await scene.answer('allow');
    scene.readings = [() => ({ answers: [{ sealed, session: 'phone' }] })];
    expect(await scene.ask()).toMatchObject({
      kind: 'answered',
      decision: { choice: 'allow', isSigned: true, session: 'phone' },
    });
    expect(scene.log).toEqual(['save', 'create', 'end used phone', 'close phone']);
  });

  it('reports and rejects garbage, and takes the true answer that comes later', async () => {
    const scene = await Scene.start();
    const sealed = await scene.answer('deny');
    scene.readings = [
      () => ({ answers: [GARBAGE] }),
      () => ({ answers: [GARBAGE] }),
      () => ({ answers: [GARBAGE, { sealed, session: 'phone' }] }),
    ];
    expect(await scene.ask()).toMatchObject({ decision: { choice: 'deny' } });
    expect(scene.log.filter((line) => line.startsWith('refused'))).toEqual([
      'refused thief not-authentic',
    ]);
    expect(scene.log).toContain('reject thief');
  });

  it.each([
    ['garbage', [GARBAGE]],
    ['nothing', []],
  ])('does not busy-loop at a server that answers at once with %s', async (_what, answers) => {
    const scene = await Scene.start();
    let readings = 0;
    const server: AskingServer = Object.assign(Object.create(scene) as Scene, {
      wait: () => {
        readings += 1;
        return readings < 1000
          ? Promise.resolve({ state: 'open', answers })
          : Promise.reject(new Error('It is asked without a pause.'));
      },
    });
    const outcome = await askAndWait(server, REQUESTS, scene.asked, {
      store: scene,
      now: () => NOW + scene.elapsedMs,
      monotonic: () => scene.elapsedMs,
      pause: (ms) => {
        scene.elapsedMs += ms;
        return Promise.resolve();
      },
    });
    expect(outcome).toEqual({ kind: 'expired', isClosed: true });
    expect(readings).toBeLessThan(100);
  });

  it('takes no answer where another process ended the request', async () => {
    const scene = await Scene.start();
    scene.ended = 'withdrawn';
    const sealed = await scene.answer('allow');
    scene.readings = [() => ({ answers: [{ sealed, session: 'phone' }] })];
    expect(await scene.ask()).toEqual({ kind: 'withdrawn', isClosed: false });
  });

  it.each(['withdrawn', 'answered', 'expired'] as const)(
    'takes no answer next to the state %s',
    async (state) => {
      const scene = await Scene.start();
      const sealed = await scene.answer('allow');
      scene.readings = [() => ({ state, answers: [{ sealed, session: 'phone' }] })];
      const kind = state === 'expired' ? 'expired' : 'withdrawn';
      expect(await scene.ask()).toEqual({ kind, isClosed: true });
    },
  );

  it.each([
    ['the wall clock was set back', -3_600_000],
    ['the wall clock was set ahead', 3_600_000],
  ])('takes no answer after the expiry where %s', async (_title, offset) => {
    const scene = await Scene.start();
    const sealed = await scene.answer('allow');
    scene.readings = [
      () => {
        scene.wallOffsetMs = offset;
        scene.elapsedMs = offset < 0 ? 60_000 : 1000;
        return { answers: [{ sealed, session: 'phone' }] };
      },
    ];
    expect(await scene.ask()).toEqual({ kind: 'expired', isClosed: true });
    expect(scene.log).toContain('refused phone late');
  });

  it('goes on after an outage, which it reports once', async () => {
    const scene = await Scene.start();
    const sealed = await scene.answer('allow');
    const out = () => Promise.reject(new ServerUnreachable('https://gate.example', 'no network'));
    const busy = { status: 503, code: 'unavailable', message: 'Busy.', retryAfterSeconds: 3 };
    scene.readings = [
      ...[out, out, () => Promise.reject(new GatehouseProblem(busy))],
      () => ({ answers: [{ sealed, session: 'phone' }] }),
    ];
    expect(await scene.ask()).toMatchObject({ kind: 'answered' });
    expect(scene.log.filter((line) => line === 'unreachable')).toHaveLength(1);
  });

  it.each([
    ['is unreachable', new ServerUnreachable('https://gate.example', 'no network'), false],
    [
      'has no such request',
      new GatehouseProblem({ status: 404, code: 'not-found', message: '' }),
      true,
    ],
  ])('returns the answer where the server %s at the end', async (_what, error, isClosed) => {
    const scene = await Scene.start();
    const sealed = await scene.answer('allow');
    scene.readings = [() => ({ answers: [{ sealed, session: 'phone' }] })];
    scene.close = () => Promise.reject(error);
    expect(await scene.ask()).toMatchObject({ kind: 'answered', isClosed });
    expect(scene.ended).toBe('used');
  });

  it('ends with the refusal of the server', async () => {
    const scene = await Scene.start();
    const facts = { status: 401, code: 'token-revoked', message: 'Ended.' };
    scene.readings = [() => Promise.reject(new GatehouseProblem(facts))];
    await expect(scene.ask()).rejects.toMatchObject({ code: 'token-revoked' });
  });

  it('withdraws the request when it is aborted, also while an answer arrives', async () => {
    const scene = await Scene.start();
    const abort = new AbortController();
    const sealed = await scene.answer('allow');
    scene.readings = [
      () => {
        abort.abort();
        return { answers: [{ sealed, session: 'phone' }] };
      },
    ];
    expect(await scene.ask({ signal: abort.signal })).toEqual({
      kind: 'withdrawn',
      isClosed: true,
    });
    expect(scene.log).toEqual(['save', 'create', 'end withdrawn', 'close null']);
  });

  it('ends at the expiry without an answer', async () => {
    const scene = await Scene.start();
    expect(await scene.ask()).toEqual({ kind: 'expired', isClosed: true });
    expect(scene.log).toEqual(['save', 'create', 'end expired', 'close null']);
  });
});
