import { decodeJwt } from 'jose';
import { AdminCalls, AdminTokensFile, adminUrlOf } from '../../fixtures/admin-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import {
  beginRequest,
  newVerifier,
  PROGRAM_ENV,
  PROGRAMS,
  programsOf,
  programTokens,
  refresh,
} from '../../fixtures/programs-fixture.js';
import { backends } from '../../fixtures/resource-server-fixture.js';
import { tokenOf } from '../../fixtures/sessions-fixture.js';
import { call, makeDeviceKey } from '../../helpers/client.js';

const METRICS_TOKEN = 'a-token-of-the-metrics-0123456789';

const setup = backends([{ id: 'notes', programs: PROGRAMS }]);
const tokens = await AdminTokensFile.create();
const env = { ...setup.env, ...PROGRAM_ENV, ...tokens.env, METRICS_TOKEN };
const server = await startServer({ env });
const admin = new AdminCalls(await adminUrlOf(server), tokens.operator);
afterAll(() => server.stop());

/** Returns the series of programs. */
async function series(): Promise<Record<string, number>> {
  const { text } = await call(server, 'GET', '/metrics', { token: METRICS_TOKEN });
  const lines = text.split('\n').filter((line) => line.startsWith('gatehouse_program_'));
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice('gatehouse_program_'.length, at), Number(line.slice(at + 1))];
    }),
  );
}

describe('the metrics of programs', () => {
  it('starts series at zero where an alert watches for the first increase', async () => {
    expect(await series()).toEqual({
      'consents_total{step="granted"}': 0,
      'grants_ended_total{cause="refresh-token-reused"}': 0,
      'grants_ended_total{cause="code-reused"}': 0,
    });
  });

  it('counts consents, tokens, grants and their ends', async () => {
    const token = await tokenOf(server, makeDeviceKey());
    const program = await programTokens(server, token);
    await refresh(server, program.refresh);
    await refresh(server, newVerifier());
    const id = await beginRequest(server, newVerifier());
    const path = `/v1/oauth/requests/${id}`;
    await call(server, 'GET', path, { token });
    await call(server, 'DELETE', path, { token });
    expect(await series()).toMatchObject({
      'consents_total{step="granted"}': 1,
      'consents_total{step="shown"}': 1,
      'consents_total{step="denied"}': 1,
      'tokens_total{grant="code",outcome="ok",reason=""}': 1,
      'tokens_total{grant="refresh",outcome="ok",reason=""}': 1,
      'tokens_total{grant="refresh",outcome="refused",reason="invalid-grant"}': 1,
      'grants{resource_server="notes",kind="code"}': 1,
    });

    const [grant] = await programsOf(server, token);
    await call(server, 'DELETE', `/v1/account/programs/${grant?.id ?? ''}`, { token });
    const ended = await series();
    expect(ended['grants_ended_total{cause="user"}']).toBe(1);
    expect(Object.keys(ended)).not.toContain('grants{resource_server="notes",kind="code"}');

    const body = { name: 'backup', resource: 'notes' };
    await call(server, 'POST', '/v1/account/programs', { token, body });
    expect(await series()).toMatchObject({
      'consents_total{step="granted"}': 2,
      'grants{resource_server="notes",kind="file"}': 1,
    });

    const [file] = await programsOf(server, token);
    await admin.remove(`${String(decodeJwt(token).sub)}/programs/${file?.id ?? ''}`);
    expect((await series())['grants_ended_total{cause="operator"}']).toBe(1);
  });
});
