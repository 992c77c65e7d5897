import { createServer, type Server as HttpServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { closeServer, KEPT_OPEN, listen } from '../../helpers/local-server.js';
import { useCliUser } from '../../fixtures/programs/cli-fixture.js';
import { call, type CallOptions } from '../../helpers/client.js';
import { type Server, startServer } from '../../fixtures/programs/server-fixture.js';
import { freePort } from '../../fixtures/programs/service-process.js';

const user = useCliUser();

const server = await startServer({ env: { SERVICE_PUBLIC_URL: 'https://gate.example/base' } });
afterAll(() => server.stop());

const CHALLENGE = 'POST /v1/auth/challenge';

/** @param refusals of the first challenges, like those of a server that has just started */
async function relayTo(
  target: () => Server,
  refusals: readonly ((response: ServerResponse) => void)[] = [],
): Promise<{ http: HttpServer; url: string; requests: string[] }> {
  const requests: string[] = [];
  const http = createServer(KEPT_OPEN, (request, response) => {
    requests.push(`${request.method} ${request.url}`);
    const challenges = requests.filter((one) => one === CHALLENGE).length;
    const refuse = requests.at(-1) === CHALLENGE ? refusals[challenges - 1] : undefined;
    if (refuse !== undefined) {
      refuse(response);
      return;
    }
    void text(request).then(async (body) => {
      const options: CallOptions = body === '' ? {} : { body };
      const { method = '', url = '' } = request;
      const answer = await call(target(), method, url, options);
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.text);
    });
  });
  return { http, url: `http://127.0.0.1:${await listen(http)}`, requests };
}

const logIn = (url: string) => user.run(['login', '--server', url, '--json']);
const signUp = (url: string) => user.run(['signup', '--server', url, '--json']);

describe('gatehouse signup at a server that relays the challenge of another', () => {
  it('signs nothing, sends no login and names the server of the challenge', async () => {
    const relay = await relayTo(() => server);
    try {
      const { code, stdout, stderr } = await signUp(relay.url);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      const { error } = JSON.parse(stderr) as { error: Record<string, unknown> };
      expect(error['code']).toBe('challenge-refused');
      expect(error['message']).toContain('is for https://gate.example.');
      expect(relay.requests).toContain(CHALLENGE);
      expect(relay.requests).not.toContain('POST /v1/auth');
    } finally {
      await closeServer(relay.http);
    }
  });
});

describe('gatehouse signup at a server that has just started', () => {
  it('waits as long as the server or its proxy says, and signs up then', async () => {
    const soon = new Date(Date.now() + 1000).toUTCString();
    const relay = await relayTo(
      () => local,
      [
        (response) => response.writeHead(503, { 'retry-after': '1' }).end(),
        (response) => response.writeHead(503, { 'retry-after': soon }).end(),
        (response) => response.writeHead(502).end('<html>Bad Gateway</html>'),
      ],
    );
    const env = {
      SERVICE_PUBLIC_URL: 'https://gate.example',
      SERVICE_LOGIN_ORIGINS: relay.url,
    };
    const local = await startServer({ env });
    try {
      expect(await signUp(relay.url)).toMatchObject({ code: 0 });
      expect(relay.requests.filter((one) => one === CHALLENGE)).toHaveLength(4);
    } finally {
      await closeServer(relay.http);
      await local.stop();
    }
  });
});

describe('gatehouse signup at an address of the server', () => {
  it('refuses an address that is not listed, and logs in at one that is', async () => {
    expect(await signUp(server.url)).toMatchObject({ code: 1 });
    const port = await freePort();
    const listed = await startServer({
      env: {
        SERVICE_PUBLIC_URL: 'https://gate.example',
        SERVICE_LOGIN_ORIGINS: `http://127.0.0.1:${port}`,
        PORT: String(port),
      },
    });
    try {
      expect(await signUp(listed.url)).toMatchObject({ code: 0 });
    } finally {
      await listed.stop();
    }
  });
});

describe('gatehouse login with a key that has no account', () => {
  let open: Server;

  beforeAll(async () => {
    open = await startServer();
  });
  afterAll(() => open.stop());

  const refusal = async (url: string) => {
    const { code, stderr } = await logIn(url);
    const { error } = JSON.parse(stderr) as { error: { code: string; hint: string } };
    return { exitCode: code, ...error };
  };

  it('creates no account and stores no key without a device key', async () => {
    expect(await refusal(open.url)).toMatchObject({ exitCode: 3, code: 'no-device-key' });
    expect(await refusal(open.url)).toMatchObject({ exitCode: 3, code: 'no-device-key' });
  });

  it('creates no account for a restored key', async () => {
    const restored = ['key', 'restore', '--server', open.url];
    expect(await user.run(restored, {}, 'A'.repeat(43))).toMatchObject({ code: 0 });
    expect(await refusal(open.url)).toMatchObject({ exitCode: 1, code: 'no-account' });
    expect((await signUp(open.url)).code).toBe(1);
  });

  it('prints the commands that lead to a new account', async () => {
    await user.run(['key', 'restore', '--server', open.url], {}, 'A'.repeat(43));
    const { hint } = await refusal(open.url);
    const commands = [...hint.matchAll(/gatehouse (key show|key remove|signup) (.*)$/gm)];
    expect(commands).toHaveLength(3);
    for (const [, command = '', options = ''] of commands) {
      const args = [...command.split(' '), ...options.split(' ')];
      expect(await user.run(args)).toMatchObject({ code: 0 });
    }
    expect((await logIn(open.url)).code).toBe(0);
  });
});

describe('gatehouse signup', () => {
  it('creates one account, even if the first attempt failed', async () => {
    const open = await startServer({ env: { PORT: String(await freePort()) } });
    try {
      await open.kill('SIGKILL');
      expect((await signUp(open.url)).code).toBe(4);
      const again = await open.restart();
      const { code, stdout } = await signUp(again.url);
      const { created } = JSON.parse(stdout) as { created: boolean };
      expect({ code, created }).toEqual({ code: 0, created: true });
      const second = await signUp(again.url);
      expect(second.code).toBe(1);
      expect(JSON.parse(second.stderr)).toMatchObject({ error: { code: 'device-key-exists' } });
      expect((await logIn(again.url)).code).toBe(0);
      await again.stop();
    } finally {
      await open.stop();
    }
  });
});
