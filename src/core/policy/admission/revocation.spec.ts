import { relay, policyWith } from '../../../../test/fixtures/policy-fixture.js';
import { describePolicy } from '../findings/describe-policy.js';
import { featureDocument } from './feature-document.js';
import { revocationBoundMs, revocationBounds } from './revocation.js';

describe('the bounds of revocation', () => {
  it.each([
    [0, 2],
    [5000, 7],
    [60_000, 62],
  ])('adds the check of live connections to a cache of %i ms', (accessCacheMs, seconds) => {
    expect(revocationBoundMs(accessCacheMs)).toBe(seconds * 1000);
    expect(revocationBounds(accessCacheMs).replicaSeconds).toBe(seconds);
  });

  it('is discovered by clients, that of backends only where there are some', () => {
    const discovered = (policy: ReturnType<typeof policyWith>): unknown =>
      (featureDocument(policy, '1.0.0').features as { readonly revocation: unknown }).revocation;
    expect(discovered(policyWith())).toEqual({ replicaSeconds: 7 });
    const withBackend = policyWith({ auth: { accessCacheMs: 0 }, resourceServers: [relay()] });
    expect(discovered(withBackend)).toEqual({ replicaSeconds: 2, backendSeconds: 30 });
  });

  it('is printed with the policy', () => {
    const sentences = describePolicy(policyWith({ resourceServers: [relay()] }));
    expect(sentences).toContain(
      'A backend with a guard refuses it within its lease, which is 30 seconds unless it sets another.',
    );
  });
});
