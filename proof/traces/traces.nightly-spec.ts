import { ok } from 'node:assert';
import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AdminTokensFile } from '../../test/fixtures/admin-fixture.js';
import { EventStreamFixture } from '../../test/fixtures/event-stream-fixture.js';
import { OffboardingFixture } from '../../test/fixtures/offboarding-fixture.js';
import { PROGRAM_ENV } from '../../test/fixtures/programs-fixture.js';
import { backends } from '../../test/fixtures/resource-server-fixture.js';
import { BEHIND_PROXY } from '../../test/helpers/device-calls.js';
import { DrivenReplica } from './driven-replica.js';
import { readTrace } from './itf.js';
import { Replay, TICK_MS } from './replay.js';
import { BACKEND, ReplayedBackend } from './replayed-backend.js';
import { writeTraces } from './traces.mjs';

const COUNT = Number(process.env['GATEHOUSE_PROOF_TRACES'] ?? 20);
const SEED = process.env['GATEHOUSE_PROOF_SEED'] ?? '1';
/** Only ends what hangs: one takes a second. */
const LIMIT_MS = 1_200_000 + COUNT * 3_000;
const SAID_EVERY = 100;

describe('traces of the model (two replicas)', () => {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-traces-'));
  const setup = backends([BACKEND]);
  let fixture: OffboardingFixture;
  let tokens: AdminTokensFile;
  let replicas: Readonly<Record<string, DrivenReplica>> = {};

  beforeAll(async () => {
    writeTraces({ directory, count: COUNT, seed: SEED });
    [fixture, tokens] = await Promise.all([OffboardingFixture.open(), AdminTokensFile.create()]);
    const env = {
      ...BEHIND_PROXY,
      ...setup.env,
      ...PROGRAM_ENV,
      AUTH_ACCESS_CACHE_SECONDS: String((2 * TICK_MS) / 1000),
      AUTH_FRESH_LOGIN_SECONDS: '0',
      AUTH_OFFBOARDING_ENABLED: 'false',
    };
    const [a, b] = await Promise.all(
      ['a', 'b'].map(() => DrivenReplica.start(fixture, tokens, env)),
    );
    replicas = { ...(a && { a }), ...(b && { b }) };
  });
  afterAll(async () => {
    await Promise.all(Object.values(replicas).map((replica) => replica.stop()));
    await fixture.close();
  });

  const test = async (): Promise<void> => {
    const files = readdirSync(directory).toSorted();
    expect(files).toHaveLength(COUNT);
    const [replica] = Object.values(replicas);
    ok(replica !== undefined);
    const events = await EventStreamFixture.open(replica.server, setup, BACKEND.id);
    let compared = 0;
    let steps = 0;
    for (const [index, file] of files.entries()) {
      if (index > 0 && index % SAID_EVERY === 0) {
        process.stderr.write(`${index} of ${COUNT} traces\n`);
      }
      const trace = readTrace(join(directory, file));
      const backend = new ReplayedBackend(setup, events);
      const replay = await Replay.begin(fixture, replicas, tokens.operator, backend);
      try {
        await replay.run(trace);
      } finally {
        await replay.end();
      }
      compared += replay.compared + backend.compared;
      steps += trace.length;
    }
    expect(compared).toBeGreaterThan(COUNT);
    process.stderr.write(
      `traces: ${COUNT}, steps: ${steps}, compared: ${compared}, seed ${SEED}\n`,
    );
  };
  it('matches the answers of the server step by step', test, LIMIT_MS);
});
