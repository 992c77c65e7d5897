import { createHash } from 'node:crypto';
import { withCrypto } from '../../../../test/helpers/platform-crypto.js';
import { makeLoginProof } from './login-proof.js';

describe(makeLoginProof.name, () => {
  it('makes a proof of 32 random bytes, with the hash of its text', async () => {
    const [one, other] = await Promise.all([makeLoginProof(), makeLoginProof()]);
    expect(one.proof).toMatch(/^[0-9a-f]{64}$/);
    expect(one.proofHash).toBe(createHash('sha256').update(one.proof).digest('hex'));
    expect(one.proof).not.toBe(other.proof);
  });

  it('rejects where the platform has no randomness', async () => {
    await withCrypto(undefined, async () => {
      await expect(makeLoginProof()).rejects.toThrow('crypto.getRandomValues');
    });
  });
});
