import { randomUUID } from 'node:crypto';
import { call, expectErrorShape, refusalOf, type Answer } from '../../helpers/client.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { AdminTokensFile, adminUrlOf } from '../../fixtures/admin-fixture.js';
import { callFrom } from '../../fixtures/certificate-login-fixture.js';

const LIMIT = 20;
const ELSEWHERE = '127.0.0.2';

const tokens = await AdminTokensFile.create();
const env = { ...tokens.env, ADMIN_RATE_LIMIT_PER_MINUTE: `${LIMIT}` };
const server = await startServer({ env });
const url = await adminUrlOf(server);
afterAll(() => server.stop());

describe('ADMIN_RATE_LIMIT_PER_MINUTE', () => {
  it('counts the requests of each caller at an address, apart from those of strangers there', async () => {
    const headers = { 'x-forwarded-for': '10.1.2.3' };
    const paths = ['/me', '/accounts', `/accounts/${randomUUID()}`, '/audit?kind=none'];
    const ask = (token: string): Promise<Answer[]> =>
      Promise.all(
        Array.from({ length: 2 * LIMIT }, (_, index) =>
          call({ url }, 'GET', `/admin/v1${paths[index % paths.length]}`, { headers, token }),
        ),
      );
    const [known, guessed] = await Promise.all([ask(tokens.reader), ask('a guess')]);
    const isLimited = ({ status }: Answer): boolean => status === 429;
    expect(known.filter(isLimited)).toHaveLength(LIMIT);
    expect(guessed.filter(isLimited)).toHaveLength(LIMIT);
    const limited = [...known, ...guessed].filter(isLimited);
    for (const answer of limited) {
      expectErrorShape(answer);
      expect(answer.body['code']).toBe('rate-limited');
      const seconds = Number(answer.headers['retry-after']);
      expect(seconds).toBeGreaterThanOrEqual(1);
      expect(seconds).toBeLessThanOrEqual(60);
    }
    const ofOperator = await call({ url }, 'GET', '/admin/v1/me', { token: tokens.operator });
    expect(ofOperator.body).toMatchObject({ name: 'alice' });
    const ofReader = await call({ url }, 'GET', '/admin/v1/me', { token: tokens.reader });
    expect(refusalOf(ofReader)).toEqual({ status: 429, code: 'rate-limited' });
    const bearer: [string, string] = ['authorization', `Bearer ${tokens.reader}`];
    const elsewhere = await callFrom(ELSEWHERE, { url }, [bearer], 'GET', '/admin/v1/me');
    expect(elsewhere).toMatchObject({ status: 200, body: { name: 'rita' } });
    expect((await call(server, 'GET', '/v1/features')).status).toBe(200);
  });
});
