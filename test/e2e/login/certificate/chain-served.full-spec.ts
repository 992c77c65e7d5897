import { writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { answerTo } from '../../../helpers/local-server.js';
import { CHAINS } from '../../../x509/chain-rows/all.js';
import {
  directory,
  opensslAccepts,
  opensslAcceptsLeaves,
  root,
} from '../../../x509/chain-fixture.js';
import { TestAuthority, type IssuedCertificate } from '../../../fixtures/certificates-fixture.js';
import { startServer, type Server } from '../../../fixtures/programs/server-fixture.js';
import { callFrom, CHAINED, mtlsEnv, PROXY } from '../../../fixtures/certificate-login-fixture.js';

const named = TestAuthority.root(directory, 'Host').issue({
  names: ['IP:127.0.0.1'],
  usage: 'serverAuth',
});
const built = CHAINS.map(({ name, build }) => ({ name, ...build() }));
/** All anchors are in one bundle, because none is an anchor of another chain. */
const anchors = [root, ...built.flatMap((row) => row.anchors ?? [])].filter(
  (one, index, all) => all.findIndex(({ cert }) => cert === one.cert) === index,
);
const caPath = join(directory, 'bundle.pem');
writeFileSync(caPath, anchors.map(({ cert }) => cert).join(''));

/** The result of openssl for each chain with that bundle, and for the leaf on its own. */
const ACCEPTED = {
  chain: built.map((row) => opensslAccepts(row, anchors)),
  leaf: opensslAcceptsLeaves(
    built.map(({ leaf }) => leaf),
    anchors,
  ),
};

interface Admission {
  readonly name: string;
  readonly status: number;
}

/** Expects refusals where openssl accepts, and no admission that openssl refuses. */
function check(accepted: readonly boolean[], answers: readonly Admission[]): void {
  // Status 403 means a valid chain of a certificate without an e-mail address.
  const isAdmitted = ({ status }: Admission): boolean => status === 200 || status === 403;
  const wrongly = answers.filter((answer, index) => isAdmitted(answer) && !accepted[index]);
  expect(wrongly).toEqual([]);
  expect(answers.every(({ status }) => [200, 401, 403].includes(status))).toBe(true);
  expect(answers.filter(isAdmitted).length).toBeGreaterThan(1);
}

const FORWARDED_ENV = { CA_PATH: caPath, VERIFY_FORWARDED: '1' };

describe.each(Object.keys(CHAINED))('the preset %s', (preset) => {
  let server: Server;

  beforeAll(async () => {
    const custom = { CUSTOM_CERTIFICATE_HEADER: 'X-Tls-Client', CUSTOM_DECODER: 'pem-spaces' };
    const own = { FORWARDED_PRESET: preset, ...(preset === 'custom' && custom) };
    server = await startServer({ env: mtlsEnv({ ...FORWARDED_ENV, ...own }) });
  });
  afterAll(() => server.stop());

  it('admits no chain that openssl verify refuses', async () => {
    const { headers, hasChain } = CHAINED[preset] ?? { headers: () => [], hasChain: false };
    const answers: Admission[] = [];
    for (const { name, leaf, others } of built) {
      const { status } = await callFrom(PROXY, server, headers(leaf, others));
      answers.push({ name, status });
    }
    check(hasChain ? ACCEPTED.chain : ACCEPTED.leaf, answers);
  });
});

describe('mode direct', () => {
  let server: Server;
  let url: URL;

  beforeAll(async () => {
    const files = { TLS_CERT_PATH: named.certPath, TLS_KEY_PATH: named.keyPath, CA_PATH: caPath };
    server = await startServer({ env: mtlsEnv({ MODE: 'direct', TLS_PORT: '0', ...files }) });
    const [, address = ''] = await server.logged(/certificates on (https:[^"]+)/);
    url = new URL(address);
  });
  afterAll(() => server.stop());

  it('admits no chain that openssl verify refuses, whatever the handshake accepts', async () => {
    const answers: Admission[] = [];
    for (const { name, leaf, others } of built) {
      answers.push({ name, status: await statusOf(leaf, others) });
    }
    check(ACCEPTED.chain, answers);
    for (const name of ['no key identifier above', 'a root without key usages']) {
      expect(answers).toContainEqual({ name, status: 200 });
    }
    // The handshake accepts these, and the login does not.
    for (const name of ['SHA-1', 'RSA with 1024 bits']) {
      expect(answers).toContainEqual({ name, status: 401 });
    }
  });

  /** Returns 401 if the handshake fails, or if this program cannot send such a certificate. */
  async function statusOf(
    leaf: IssuedCertificate,
    others: readonly IssuedCertificate[],
  ): Promise<number> {
    try {
      const sent = request({
        hostname: url.hostname,
        port: url.port,
        method: 'POST',
        path: '/v1/auth/mtls',
        agent: false,
        rejectUnauthorized: false,
        cert: leaf.cert + others.map(({ cert }) => cert).join(''),
        key: leaf.key,
        ciphers: 'DEFAULT@SECLEVEL=0',
      });
      return (await answerTo(sent)).status;
    } catch {
      return 401;
    }
  }
});
