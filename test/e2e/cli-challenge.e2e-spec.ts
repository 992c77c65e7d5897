import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CliUser, createCliUser } from '../helpers/cli.js';
import { call, type CallOptions } from '../helpers/client.js';
import { type Server, startServer } from '../helpers/server.js';
import { freePort } from '../helpers/service-process.js';

let server: Server;
let user: CliUser;

beforeAll(async () => {
  server = await startServer({ env: { SERVICE_PUBLIC_URL: 'https://gate.example/base' } });
});
afterAll(() => server.stop());
beforeEach(async () => {
  user = await createCliUser();
});
afterEach(() => user.remove());

/** Another server, which passes every request on to `target` and keeps what it was asked. */
async function relayTo(
  target: Server,
): Promise<{ http: HttpServer; url: string; asked: string[] }> {
  const asked: string[] = [];
  const http = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    void bodyOf(request).then(async (body) => {
      const options: CallOptions = body === '' ? {} : { body };
      const { method = '', url = '' } = request;
      const { status, text } = await call(target, method, url, options);
      response.writeHead(status, { 'content-type': 'application/json' }).end(text);
    });
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return { http, url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, asked };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) {
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

const logIn = (url: string) => user.run(['login', '--server', url, '--json']);

describe('gatehouse login at a server that passes on the challenge of another', () => {
  it('signs nothing, sends no login and says of which server the challenge is', async () => {
    const relay = await relayTo(server);
    try {
      const { code, stdout, stderr } = await logIn(relay.url);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      const { error } = JSON.parse(stderr) as { error: Record<string, unknown> };
      expect(error['code']).toBe('challenge-refused');
      expect(error['message']).toContain('is for https://gate.example.');
      expect(relay.asked).toContain('POST /v1/auth/challenge');
      expect(relay.asked).not.toContain('POST /v1/auth');
    } finally {
      relay.http.close();
    }
  });
});

describe('gatehouse login at an address of the server', () => {
  it('needs the address to be listed, and logs in then', async () => {
    expect(await logIn(server.url)).toMatchObject({ code: 1 });
    const port = await freePort();
    const listed = await startServer({
      env: {
        SERVICE_PUBLIC_URL: 'https://gate.example',
        SERVICE_LOGIN_ORIGINS: `http://127.0.0.1:${port}`,
        PORT: String(port),
      },
    });
    try {
      expect(await logIn(listed.url)).toMatchObject({ code: 0 });
    } finally {
      await listed.stop();
    }
  });
});

describe('gatehouse login with a key that has no account', () => {
  it('makes one for a key made here, also when the first attempt failed', async () => {
    const open = await startServer();
    try {
      await open.kill('SIGKILL');
      expect((await logIn(open.url)).code).toBe(4);
      const again = await open.restart();
      const { code, stdout } = await logIn(again.url);
      expect({ code, created: (JSON.parse(stdout) as Record<string, unknown>)['created'] }).toEqual(
        {
          code: 0,
          created: true,
        },
      );
      await again.stop();
    } finally {
      await open.stop();
    }
  });

  it('makes none for a key that was restored', async () => {
    const open = await startServer();
    try {
      const restored = ['key', 'restore', '--server', open.url];
      expect(await user.run(restored, {}, 'A'.repeat(43))).toMatchObject({ code: 0 });
      const { code, stderr } = await logIn(open.url);
      expect(code).toBe(1);
      expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'no-account' } });
    } finally {
      await open.stop();
    }
  });
});
