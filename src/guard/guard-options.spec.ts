import { revocationBounds } from '../policy/admission/revocation.js';
import { readOptions } from './guard-options.js';

describe(readOptions.name, () => {
  it('uses the lease that the policy promises for backends', () => {
    const { leaseMs } = readOptions({
      issuer: 'https://gate.example.com',
      resource: 'https://relay.example.com',
      client: { id: 'relay', secret: 'secret' },
    });
    expect(leaseMs).toBe(revocationBounds(0).backendSeconds * 1000);
  });
});
