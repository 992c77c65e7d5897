import { once } from 'node:events';
import { readlinkSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import { answerTo } from '../../../helpers/local-server.js';
import type { IssuedCertificate } from '../../../fixtures/certificates-fixture.js';
import {
  alice,
  bob,
  chained,
  files,
  issuing,
  publish,
  revocationLists,
  root,
  startDirect,
  volume,
} from '../../../fixtures/tls-listener-fixture.js';
import { waitFor } from '../../../helpers/wait.js';
import { auditOf } from '../../../fixtures/certificate-login-fixture.js';

const direct = await startDirect();
const { post, logIn } = direct;
afterAll(() => direct.server.stop());

describe('a connection in mode direct', () => {
  const mallory = issuing.issue({ names: ['email:mallory@corp.example'] });
  /** The number of logins that were answered with 401, each of which is an audit event. */
  let refused = 0;
  let changes = 0;

  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'resumes no session of %s, so that each connection sends its own certificate',
    async (version) => {
      const [alices, bobs] = [await logIn(alice), await logIn(bob)];
      const options = { maxVersion: version, keepAlive: false, maxCachedSessions: 0 };
      const begin = async (own: IssuedCertificate): Promise<Buffer | undefined> => {
        const { hostname: host, port } = urlParts();
        const socket = connect({
          ...chained(own),
          host,
          port: Number(port),
          ca: root.cert,
          maxVersion: version,
        });
        let session: Buffer | undefined;
        socket.on('session', (ticket: Buffer) => (session = ticket));
        await once(socket, 'secureConnect');
        socket.end('GET /livez HTTP/1.1\r\nhost: gate\r\nconnection: close\r\n\r\n');
        socket.resume();
        await once(socket, 'close');
        return session ?? socket.getSession();
      };
      const resume = async (session: Buffer | undefined, own: IssuedCertificate) => {
        const sent = request({
          ...urlParts(),
          ...chained(own),
          ca: root.cert,
          agent: new Agent(options),
          ...({ session } as object),
          method: 'POST',
          path: '/v1/auth/mtls',
        });
        const { answer, text } = await answerTo(sent);
        const { accountId } = JSON.parse(text) as { accountId: string };
        return { isReused: (answer.socket as TLSSocket).isSessionReused(), accountId };
      };
      expect(await resume(await begin(alice), bob)).toEqual({
        isReused: false,
        accountId: bobs.body['accountId'],
      });
      expect(await resume(await begin(bob), alice)).toEqual({
        isReused: false,
        accountId: alices.body['accountId'],
      });
    },
  );

  function urlParts(): { hostname: string; port: string } {
    const { hostname, port } = new URL(direct.url);
    return { hostname, port };
  }

  it('uses changed files at once, and keeps the connections that are open', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const kept = { alice: new Agent({ keepAlive: true }), mallory: agent };
    expect((await post({ ...chained(mallory), agent: kept.mallory })).status).toBe(200);
    const before = await post({ ...chained(alice), agent: kept.alice });
    const port = portOf(kept.alice);

    const renewed = root.issue({
      subject: '/CN=new',
      names: ['IP:127.0.0.1'],
      usage: 'serverAuth',
    });
    const changed = { ...files, 'tls.crt': renewed.cert, 'tls.key': renewed.key };
    const used = (): number => timesLogged(/have changed and are in use/g);
    publish(changed, 'v2');
    await waitFor('the certificate', () => used() === 1);
    // This change is separate, because a read during a change uses the part that is valid.
    issuing.revoke(mallory);
    publish({ ...changed, 'crl.pem': revocationLists() }, 'v3');
    await waitFor('the list', () => used() === 2);

    await expect(logIn(mallory)).rejects.toThrow();
    const after = await post({ ...chained(alice), agent: kept.alice });
    expect(after.body['accountId']).toBe(before.body['accountId']);
    expect(portOf(kept.alice)).toBe(port);
    // The connection is still open, but its certificate is revoked.
    expect(await post({ ...chained(mallory), agent: kept.mallory })).toMatchObject({ status: 401 });
    refused += 1;
    expect(await commonNameOfServer()).toBe('new');
    Object.values(kept).forEach((one) => one.destroy());
  });

  it('keeps the old files while the new ones are invalid', async () => {
    // One read may have happened in the middle of the change of both files.
    const before = timesLogged(/are not used/g);
    publish({ ...files, 'tls.key': alice.key }, 'v4');
    await waitFor('the reason', () => timesLogged(/are not used/g) > before);
    expect(readlinkSync(join(volume, '..data'))).toContain('v4');
    expect((await logIn(alice)).status).toBe(200);
    expect(await commonNameOfServer()).toBe('new');
  });

  it('re-validates the certificate of a handshake that began before the files changed', async () => {
    // The server ends a handshake after 10 seconds, in which a slow machine may not read the files.
    const answer = await waitFor('an answer within the time of a handshake', () =>
      requestAfterChange(`v5-${(changes += 1)}`),
    );
    expect(answer).toMatch(/^HTTP\/1.1 401 /);
    refused += 1;
  });

  /** Revokes a certificate during a handshake. @returns undefined when the server ended it */
  async function requestAfterChange(version: string): Promise<string | undefined> {
    const eve = issuing.issue({ names: ['email:eve@corp.example'] });
    issuing.revoke(eve);
    const revoking = { ...files, 'crl.pem': revocationLists() };
    const { port } = new URL(direct.url);
    const raw = connectTcp(Number(port), '127.0.0.1');
    await once(raw, 'connect');
    // Connections are accepted in order: after this one was, so was the first.
    expect((await logIn(alice)).status).toBe(200);
    publish(revoking, version);
    // An attempt whose handshake is before the change and whose request is after it is answered
    // with 401. A later attempt gets no connection.
    const tryAgain = () =>
      logIn(eve).then(
        ({ status }) => status,
        () => 'no connection',
      );
    let outcome = await tryAgain();
    for (; outcome === 200; outcome = await tryAgain()) {
      await sleep(50);
    }
    refused += outcome === 401 ? 1 : 0;
    const socket = connect({ ...chained(eve), ca: root.cert, host: '127.0.0.1', socket: raw });
    const isOpen = await once(socket, 'secureConnect').then(
      () => true,
      () => false,
    );
    if (!isOpen) {
      return undefined;
    }
    socket.write('POST /v1/auth/mtls HTTP/1.1\r\nhost: gate\r\ncontent-length: 0\r\n\r\n');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    return answer.toString();
  }

  it('counts logins with a revoked certificate', async () => {
    expect(await auditOf(direct.server)).toMatchObject({ revoked: refused });
  });

  function timesLogged(line: RegExp): number {
    return direct.server.logs().match(line)?.length ?? 0;
  }

  function portOf(agent: Agent): number | undefined {
    return Object.values(agent.freeSockets)[0]?.[0]?.localPort;
  }

  async function commonNameOfServer(): Promise<string | undefined> {
    const { port } = new URL(direct.url);
    const socket = connect({
      ...chained(alice),
      host: '127.0.0.1',
      port: Number(port),
      ca: root.cert,
    });
    await once(socket, 'secureConnect');
    const { subject } = socket.getPeerCertificate();
    socket.destroy();
    return String(subject.CN);
  }
});
