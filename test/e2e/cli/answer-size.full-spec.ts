import { createServer } from 'node:http';
import { createCliUser } from '../../fixtures/programs/cli-fixture.js';
import { closeServer, listen } from '../../helpers/local-server.js';

const MIB = Buffer.alloc(1_048_576, ' ');
/** The size of the answer: more than a text of V8 can hold. */
const ANSWER_MIB = 700;

/** MiB that the last answer had sent when its connection ended. */
let sent: number;
let status: number;

const user = await createCliUser();
const server = createServer((_request, response) => {
  sent = 0;
  response.writeHead(status, { 'content-type': 'application/json' });
  const more = (): void => {
    while (sent < ANSWER_MIB && !response.destroyed) {
      sent += 1;
      if (!response.write(MIB)) {
        response.once('drain', more);
        return;
      }
    }
    response.end('{}');
  };
  more();
});
const url = `http://127.0.0.1:${await listen(server)}`;
afterAll(() => closeServer(server));

describe('an answer that does not fit into memory', () => {
  const admin = () => ['audit', '--json', '--admin-url', url];
  const token = { GATEHOUSE_ADMIN_TOKEN: 'a-token' };

  it.each([
    ['of the administration API', admin, token],
    ['through the global fetch, behind a proxy', admin, { ...token, http_proxy: '' }],
    ['of the public API', () => ['signup', '--json', '--server', url], {}],
  ])('ends a command with a clear error: %s', async (_name, args, env) => {
    status = 200;
    const proxied = 'http_proxy' in env ? { ...env, http_proxy: url } : env;
    const { code, stdout, stderr } = await user.run(args(), proxied);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: 'answer-too-large', message: expect.stringContaining('64 MiB') },
    });
    expect(sent).toBeLessThan(ANSWER_MIB);
  });

  it('ends a command with the exit code of a failing server, where the answer is a 500', async () => {
    status = 500;
    const { code, stderr } = await user.run(admin(), token);
    expect(code).toBe(4);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'answer-too-large' } });
  });
});
