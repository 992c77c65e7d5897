import { createHash, randomBytes } from 'node:crypto';
import { makeLoginProof } from '../../../../src/packages/client/crypto/login-proof.js';
import { certificateDirectory, TestAuthority } from '../../../fixtures/certificates-fixture.js';
import { call, refusalOf } from '../../../helpers/client.js';
import { startServer } from '../../../fixtures/programs/server-fixture.js';
import {
  callFrom,
  FORWARDED,
  mtlsEnv,
  PROXY,
} from '../../../fixtures/certificate-login-fixture.js';

const directory = certificateDirectory();
const root = TestAuthority.root(directory, 'Acme Root');
const alice = root.issue({ names: ['email:alice@corp.example'] });
const RETURN_TO = 'https://app.example/login';

const headers = FORWARDED['ingress-nginx']?.(alice, root) ?? [];

const server = await startServer({ env: mtlsEnv({ FORWARDED_PRESET: 'ingress-nginx' }) });
afterAll(() => server.stop());

describe('a code that is bound to a proof', () => {
  const open = (step: string, query: Record<string, string>) => {
    const path = `/v1/auth/mtls/${step}?${new URLSearchParams(query).toString()}`;
    return callFrom(PROXY, server, headers, 'GET', path);
  };

  /** Follows `start` and `complete`, as a browser does. */
  async function codeFor(proofHash?: string): Promise<string> {
    const query = { returnTo: RETURN_TO, ...(proofHash !== undefined && { proofHash }) };
    const start = await open('start', query);
    const next = new URL(start.location ?? '', `${server.url}/v1/auth/mtls/start`);
    const ended = await callFrom(PROXY, server, headers, 'GET', next.pathname + next.search);
    return new URL(ended.location ?? '').searchParams.get('code') ?? '';
  }

  const claim = (body: object) => call(server, 'POST', '/v1/auth/mtls/claim', { body });
  const INVALID_PROOF = { status: 400, code: 'invalid-proof' };

  it('is refused without the proof or with another one, and stays valid for its owner', async () => {
    const { proof, proofHash } = await makeLoginProof();
    const code = await codeFor(proofHash);
    const other = randomBytes(32).toString('hex');
    const wrong = [{}, { proof: '' }, { proof: other }, { proof: proofHash }];
    for (const body of wrong) {
      expect(refusalOf(await claim({ code, ...body }))).toEqual(INVALID_PROOF);
    }
    expect(await claim({ code, proof })).toMatchObject({ status: 200, body: { success: true } });
    const again = await claim({ code, proof });
    expect(refusalOf(again)).toEqual({ status: 401, code: 'invalid-code' });
  });

  it('issues one token to 50 simultaneous claims, strangers included', async () => {
    const { proof, proofHash } = await makeLoginProof();
    const code = await codeFor(proofHash.toUpperCase());
    const answers = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => ({
        isOwner: index % 2 === 0,
        answer: await claim({ code, proof: index % 2 === 0 ? proof : `not ${index}` }),
      })),
    );
    const taken = answers.filter(({ answer }) => answer.status === 200);
    expect(taken).toMatchObject([{ isOwner: true }]);
    const refused = answers.filter(({ answer }) => answer.status !== 200);
    expect(refused).toHaveLength(49);
    for (const { answer } of refused) {
      expect(['invalid-code', 'invalid-proof']).toContain(answer.body['code']);
    }
  });

  it('is refused when its hash was removed or replaced', async () => {
    const { proof } = await makeLoginProof();
    // Without the hash, an attacker could make a person finish a login of the attacker.
    expect(refusalOf(await claim({ code: await codeFor(), proof }))).toEqual(INVALID_PROOF);
    const swapped = createHash('sha256').update('of the attacker').digest('hex');
    const code = await codeFor(swapped);
    expect(refusalOf(await claim({ code, proof }))).toEqual(INVALID_PROOF);
  });

  it.each(['', 'ab', 'g'.repeat(64), 'a'.repeat(65)])(
    'refuses to begin with a hash other than SHA-256 in hex: %j',
    async (proofHash) => {
      for (const step of ['start', 'complete']) {
        const answer = await open(step, { returnTo: RETURN_TO, proofHash });
        expect(answer).toMatchObject({ status: 400, body: { code: 'invalid-request' } });
      }
    },
  );

  it('is claimed without a proof when it began without a hash', async () => {
    expect(await claim({ code: await codeFor() })).toMatchObject({ status: 200 });
  });
});
