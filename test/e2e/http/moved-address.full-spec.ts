import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { certificateDirectory, TestAuthority } from '../../fixtures/certificates-fixture.js';
import {
  copyShipped,
  PROXY_PROGRAMS,
  runsProxy,
  startProxy,
} from '../../fixtures/programs/proxy-fixture.js';
import { freePort, type Service } from '../../fixtures/programs/service-process.js';
import { answerTo, closeServer, listen } from '../../helpers/local-server.js';
import { waitFor } from '../../helpers/wait.js';

const HEADER_BYTES = 12;
const TYPE_A = 1;

/** A DNS server with one host, whose address changes as that of a container that is made again. */
class MovingHost {
  address = '127.0.0.1';

  private constructor(private readonly socket: Socket) {}

  static async start(): Promise<MovingHost> {
    const socket = createSocket('udp4');
    const host = new MovingHost(socket);
    socket.on('message', (query, { port }) => socket.send(host.answer(query), port, '127.0.0.1'));
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return host;
  }

  get server(): string {
    return `127.0.0.1:${this.socket.address().port}`;
  }

  stop(): void {
    this.socket.close();
  }

  /** RFC 1035, 4.1: the question again, and an A record with a lifetime of a second. */
  private answer(query: Buffer): Buffer {
    const end = query.indexOf(0, HEADER_BYTES) + 5;
    const isA = query.readUInt16BE(end - 4) === TYPE_A;
    const header = [...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, isA ? 1 : 0, 0, 0, 0, 0];
    const record = [0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 1, 0, 4];
    const address = this.address.split('.').map(Number);
    const question = query.subarray(HEADER_BYTES, end);
    return Buffer.from([...header, ...question, ...(isA ? [...record, ...address] : [])]);
  }
}

/** How each shipped configuration names its ports, and the texts that choose the DNS server. */
const PROXIES = [
  {
    name: 'nginx',
    file: 'nginx.conf',
    port: 'listen ',
    resolveBy: (server: string) => ({ '127.0.0.11 valid=10s': `${server} valid=1s` }),
  },
  {
    name: 'haproxy',
    file: 'haproxy.cfg',
    port: 'bind :',
    resolveBy: (server: string) => ({
      'parse-resolv-conf\n  hold valid 10s': `nameserver own ${server}\n  hold valid 1s`,
    }),
  },
] as const;

const directory = certificateDirectory();
const root = TestAuthority.root(directory, 'Development CA');
const host = root.issue({ subject: '/CN=gate', names: ['IP:127.0.0.1'], usage: 'serverAuth' });

/** Writes the certificates that the shipped configurations name. @returns `home` */
function writeCertificates(home: string): string {
  mkdirSync(join(home, 'tls'), { recursive: true });
  const files = {
    'tls.crt': host.cert,
    'tls.key': host.key,
    'tls.pem': host.cert + host.key,
    'client-ca.pem': root.cert,
  };
  Object.entries(files).forEach(([path, text]) => writeFileSync(join(home, 'tls', path), text));
  return home;
}

async function ask(port: number): Promise<string> {
  const sent = request(`https://127.0.0.1:${port}/`, { ca: root.cert, agent: false });
  return (await answerTo(sent)).text;
}

for (const { name, file, port, resolveBy } of PROXIES) {
  const program = PROXY_PROGRAMS[name];
  (runsProxy(program) ? describe : describe.skip)(`the shipped configuration of ${name}`, () => {
    it('finds a container at its new address', async () => {
      const moving = await MovingHost.start();
      const serve = (text: string) => createServer((_request, answer) => void answer.end(text));
      const [before, after] = [serve('before'), serve('after')];
      let proxy: Service | undefined;
      try {
        const upstream = await listen(before);
        after.listen(upstream, '127.0.0.2');
        await once(after, 'listening');
        const open = await freePort();
        const home = writeCertificates(join(directory, name));
        const config = copyShipped([file], home, {
          '/etc/gatehouse': home,
          '/var/log/nginx': home,
          ...resolveBy(moving.server),
          'gatehouse:3000': `gatehouse.test:${upstream}`,
          [`${port}443`]: `${port}${open}`,
          [`${port}8443`]: `${port}${await freePort()}`,
        });
        proxy = await startProxy(program, config, home, open);
        await waitFor('an answer', async () => (await ask(open)) === 'before');
        moving.address = '127.0.0.2';
        await closeServer(before);
        await waitFor('an answer of the other address', async () => (await ask(open)) === 'after');
      } finally {
        await proxy?.stop();
        await closeServer(before);
        await closeServer(after);
        moving.stop();
      }
    });
  });
}
