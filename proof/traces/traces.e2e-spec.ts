import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AdminTokensFile } from '../../test/fixtures/admin-fixture.js';
import { OffboardingFixture } from '../../test/fixtures/offboarding-fixture.js';
import { IS_POSTGRES } from '../../test/fixtures/programs/server-fixture.js';
import { BEHIND_PROXY } from '../../test/helpers/device-calls.js';
import { DrivenReplica } from './driven-replica.js';
import { readTrace } from './itf.js';
import { Replay, TICK_MS } from './replay.js';
import { writeTraces } from './traces.mjs';

const COUNT = Number(process.env['GATEHOUSE_PROOF_TRACES'] ?? 20);
const SEED = process.env['GATEHOUSE_PROOF_SEED'] ?? '1';

const withServices = IS_POSTGRES ? describe : describe.skip;
withServices('traces of the model (two replicas; needs PostgreSQL and Redis)', () => {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-traces-'));
  let fixture: OffboardingFixture;
  let tokens: AdminTokensFile;
  let replicas: Readonly<Record<string, DrivenReplica>>;

  beforeAll(async () => {
    writeTraces({ directory, count: COUNT, seed: SEED });
    [fixture, tokens] = await Promise.all([OffboardingFixture.open(), AdminTokensFile.create()]);
    const env = {
      ...BEHIND_PROXY,
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
    await tokens.remove();
    rmSync(directory, { recursive: true });
  });

  it('matches the answers of the server step by step', async () => {
    const files = readdirSync(directory).toSorted();
    expect(files).toHaveLength(COUNT);
    let compared = 0;
    let steps = 0;
    for (const file of files) {
      const trace = readTrace(join(directory, file));
      const replay = await Replay.begin(fixture, replicas, tokens.operator);
      try {
        await replay.run(trace);
      } finally {
        await replay.end();
      }
      compared += replay.compared;
      steps += trace.length;
    }
    expect(compared).toBeGreaterThan(COUNT);
    process.stderr.write(
      `traces: ${COUNT}, steps: ${steps}, compared: ${compared}, seed ${SEED}\n`,
    );
  });
});
