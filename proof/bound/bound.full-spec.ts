import { setTimeout as sleep } from 'node:timers/promises';
import { AdminCalls, AdminTokensFile, adminUrlOf } from '../../test/fixtures/admin-fixture.js';
import { startServer, type Server } from '../../test/fixtures/programs/server-fixture.js';
import { createStore, type Store } from '../../test/fixtures/programs/store-fixture.js';
import { SeededRandom } from '../../test/fixtures/seeded-random.js';
import { tokenOf } from '../../test/fixtures/sessions-fixture.js';
import { call, logIn, makeDeviceKey } from '../../test/helpers/client.js';
import { MessageGate } from '../traces/message-gate.js';

/** Acts at each number of replicas. */
const ACTS = Number(process.env['GATEHOUSE_PROOF_ACTS'] ?? 60) / 2;
const SEED = Number(process.env['GATEHOUSE_PROOF_SEED'] ?? 1);
const CACHE_SECONDS = 1;
const CLIENTS = Math.min(ACTS, 60);
const GATE_MS = 20;
const POLL_MS = 100;

describe('the bound of replicas that lose messages', () => {
  const random = new SeededRandom(SEED);
  let store: Store;
  let tokens: AdminTokensFile;

  beforeAll(async () => {
    [store, tokens] = await Promise.all([createStore(), AdminTokensFile.create()]);
  });
  afterAll(() => store.drop());

  it.each([2, 4])('is never exceeded at %d replicas', async (count) => {
    const redisUrl = `${process.env['TEST_REDIS_URL']}/${process.env['JEST_WORKER_ID']}`;
    const gates = await Promise.all(
      Array.from({ length: count }, () => MessageGate.start(Number(new URL(redisUrl).port))),
    );
    const env = { ...tokens.env, AUTH_ACCESS_CACHE_SECONDS: String(CACHE_SECONDS) };
    const replicas = await Promise.all(
      gates.map((gate) =>
        startServer({ store, env: { ...env, REDIS_URL: gate.urlFor(redisUrl) } }),
      ),
    );
    // Half of the messages are lost.
    const losing = setInterval(
      () =>
        gates.forEach((gate) =>
          random.below(2) === 0 ? gate.drop() : gate.deliver({ again: false }),
        ),
      GATE_MS,
    );
    const lastMs: number[] = [];
    let left = ACTS;
    try {
      await Promise.all(
        Array.from({ length: CLIENTS }, async () => {
          const client = await Client.start(replicas, tokens.operator);
          while ((left -= 1) >= 0) {
            lastMs.push(await client.measure(random));
          }
        }),
      );
    } finally {
      clearInterval(losing);
      await Promise.all(replicas.map((server) => server.stop()));
      gates.forEach((gate) => gate.close());
    }
    const sorted = lastMs.toSorted((one, other) => one - other);
    const at = (share: number) => Math.round(sorted[Math.ceil(share * sorted.length) - 1] ?? 0);
    process.stderr.write(
      `${count} replicas, ${sorted.length} acts: last admission ${at(0.5)} ms (median), ${at(1)} ms (greatest)\n`,
    );
    expect(sorted).toHaveLength(ACTS);
    expect(sorted.at(-1)).toBeLessThan(CACHE_SECONDS * 1000);
  });
});

/** An account whose sessions are ended, one after another. */
class Client {
  private constructor(
    private readonly replicas: readonly Server[],
    private readonly administration: AdminCalls,
    private readonly accountId: string,
    private readonly key: ReturnType<typeof makeDeviceKey>,
  ) {}

  static async start(replicas: readonly Server[], operator: string): Promise<Client> {
    const [first] = replicas;
    const key = makeDeviceKey();
    const { accountId } = await logIn(first!, key);
    return new Client(replicas, new AdminCalls(await adminUrlOf(first!), operator), accountId, key);
  }

  /** @returns the time from the answer to an act to the begin of the last request that was admitted */
  async measure(random: SeededRandom): Promise<number> {
    for (;;) {
      try {
        return await this.measureOnce(random);
      } catch (error) {
        // A server may close a kept connection while a request is on its way.
        if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') {
          throw error;
        }
        await this.administration.act(this.accountId, 'enable');
      }
    }
  }

  private async measureOnce(random: SeededRandom): Promise<number> {
    const acting = this.replicas[random.below(this.replicas.length)]!;
    const token = await tokenOf(acting, this.key);
    const isAdmitted = async (server: Server): Promise<boolean> => {
      // The body is refused after the token was admitted.
      const { status } = await call(server, 'POST', '/v1/push-tokens', { token, body: {} });
      return status === 400;
    };
    const known = await Promise.all(this.replicas.map(isAdmitted));
    expect(known).not.toContain(false);
    const isDisabled = random.below(3) === 0;
    const path = random.below(2) === 0 ? '/v1/auth/logout' : '/v1/auth/logout-everywhere';
    const { status } = isDisabled
      ? await this.administration.act(this.accountId, 'disable')
      : await call(acting, 'POST', path, { token });
    const endedAt = performance.now();
    expect(status).toBe(200);
    const last = await Promise.all(
      this.replicas.map(async (server) => {
        for (let lastMs = 0; ; await sleep(random.below(POLL_MS))) {
          const sinceMs = performance.now() - endedAt;
          if (!(await isAdmitted(server))) {
            return lastMs;
          }
          lastMs = sinceMs;
        }
      }),
    );
    if (isDisabled) {
      expect((await this.administration.act(this.accountId, 'enable')).status).toBe(200);
    }
    return Math.max(...last);
  }
}
