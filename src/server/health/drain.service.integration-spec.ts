import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { HttpAdapterHost } from '@nestjs/core';
import type { AuthService } from '../auth/auth.service.js';
import { IdentityEvents } from '../auth/identity.events.js';
import { DrainEvents } from '../../common/runtime/drain.events.js';
import { Runtime } from '../../common/runtime/runtime.js';
import { Timers } from '../../common/runtime/timers.js';
import { resolveSettings } from '../config/resolve-settings.js';
import { listenWidely } from '../network/listening-sockets.js';
import { LiveConnectionsService } from '../updates/live-connections.service.js';
import { DrainService } from './drain.service.js';

const REQUEST = 'POST / HTTP/1.1\r\nhost: gate\r\ncontent-length: 0\r\n\r\n';
const CLIENTS = 50;

/** Timers that sleep for a turn, after which they run the next of some steps. */
class SteppingTimers extends Timers {
  constructor(private readonly steps: (() => void)[]) {
    super();
  }

  override async sleep(): Promise<void> {
    await this.nextTurn();
    this.steps.shift()?.();
    // A socket begins to connect in the next tick.
    await new Promise(process.nextTick);
  }
}

let server: Server;
const sockets: Socket[] = [];

beforeEach(async () => {
  server = createServer((_request, response) => response.end('done'));
  await listenWidely(server, { port: 0, host: '127.0.0.1' }, (options) =>
    once(server.listen(options), 'listening'),
  );
});

afterEach(() => {
  sockets.splice(0).forEach((socket) => socket.destroy());
});

/** Drains a server whose sleeps end with these steps. */
async function drain(...steps: (() => void)[]): Promise<void> {
  const { settings } = resolveSettings({});
  const service = new DrainService(
    { httpAdapter: { getHttpServer: () => server } } as HttpAdapterHost,
    new DrainEvents(),
    new LiveConnectionsService(
      {} as AuthService,
      new Runtime(),
      new IdentityEvents(),
      settings.auth,
      settings.updates,
    ),
    new SteppingTimers(steps),
    settings.http,
  );
  service.onModuleInit();
  await service.onModuleDestroy();
}

/** Opens a connection and returns the status line of its answer, or the code of its error. */
function open(firstBytes?: string): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  sockets.push(socket);
  if (firstBytes !== undefined) {
    socket.write(firstBytes);
  }
  return new Promise((done) => {
    socket.once('data', (answer: Buffer) => done(answer.toString().split('\r\n', 1)[0] ?? ''));
    socket.once('error', ({ code }: NodeJS.ErrnoException) => done(code ?? ''));
    socket.once('close', () => done('closed'));
  });
}

describe(DrainService.name, () => {
  it(`answers ${CLIENTS} requests whose connections wait when the server stops to listen`, async () => {
    const answers: Promise<string>[] = [];
    await drain(() => answers.push(...Array.from({ length: CLIENTS }, () => open(REQUEST))));
    expect(new Set(await Promise.all(answers))).toEqual(new Set(['HTTP/1.1 200 OK']));
    expect(answers).toHaveLength(CLIENTS);
  });

  it('answers the first request of a connection that was opened while it drains', async () => {
    let answer: Promise<string> | undefined;
    await drain(
      () => {
        answer = open();
      },
      () => undefined,
      () => sockets[0]?.write(REQUEST),
    );
    expect(await answer).toBe('HTTP/1.1 200 OK');
  });

  it('closes a connection that was opened while it drains and sends nothing', async () => {
    let answer: Promise<string> | undefined;
    await drain(() => {
      answer = open();
    });
    expect(await answer).toBe('closed');
  });
});
