import { randomUUID } from 'node:crypto';
import { call, expectErrorShape, refusalOf, type Answer } from '../helpers/client.js';
import { startServer, type Server } from '../helpers/server.js';
import { AdminTokensFile, adminUrlOf } from './admin-world.js';
import { callFrom } from './mtls-world.js';

const LIMIT = 20;
/** Another address of this machine. */
const ELSEWHERE = '127.0.0.2';

describe('ADMIN_RATE_LIMIT_PER_MINUTE', () => {
  let tokens: AdminTokensFile;
  let server: Server;
  let url: string;

  beforeAll(async () => {
    tokens = await AdminTokensFile.create();
    const env = { ...tokens.env, ADMIN_RATE_LIMIT_PER_MINUTE: `${LIMIT}` };
    server = await startServer({ env });
    url = await adminUrlOf(server);
  });
  afterAll(async () => {
    await server.stop();
    await tokens.remove();
  });

  it('counts the requests of one address, good and bad, and of no other one', async () => {
    const headers = { 'x-forwarded-for': '10.1.2.3' };
    const paths = ['/me', '/accounts', `/accounts/${randomUUID()}`, '/audit?kind=none'];
    const answers: Answer[] = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        call({ url }, 'GET', `/admin/v1${paths[index % paths.length]}`, {
          headers,
          token: index % 3 === 0 ? 'a guess' : tokens.reader,
        }),
      ),
    );
    const limited = answers.filter(({ status }) => status === 429);
    expect(answers.length - limited.length).toBe(LIMIT);
    for (const answer of limited) {
      expectErrorShape(answer);
      expect(answer.body['code']).toBe('rate-limited');
      const seconds = Number(answer.headers['retry-after']);
      expect(seconds).toBeGreaterThanOrEqual(1);
      expect(seconds).toBeLessThanOrEqual(60);
    }
    const ofOperator = await call({ url }, 'GET', '/admin/v1/me', { token: tokens.operator });
    expect(refusalOf(ofOperator)).toEqual({ status: 429, code: 'rate-limited' });
    const bearer: [string, string] = ['authorization', `Bearer ${tokens.reader}`];
    const elsewhere = await callFrom(ELSEWHERE, { url }, [bearer], 'GET', '/admin/v1/me');
    expect(elsewhere).toMatchObject({ status: 200, body: { name: 'rita' } });
    expect((await call(server, 'GET', '/v1/features')).status).toBe(200);
  });
});
