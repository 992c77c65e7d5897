import { FakeOpenIdProvider } from '../../../test/fakes/openid-provider.js';
import { DIRECT, oidcSettings } from '../../../test/fakes/provider-settings.js';
import { OidcDiscovery } from './oidc-discovery.js';
import { UpstreamHttp } from '../http/upstream-http.js';

const PATH = '/.well-known/openid-configuration';

describe(OidcDiscovery, () => {
  let op: FakeOpenIdProvider;
  let discovery: OidcDiscovery;
  const clock = { nowMs: 0, now: () => clock.nowMs };

  beforeEach(async () => {
    clock.nowMs = 1_000_000;
    op = await FakeOpenIdProvider.start();
    discovery = new OidcDiscovery(oidcSettings(op.issuer), new UpstreamHttp(clock, DIRECT), clock);
  });

  afterEach(() => op.close());

  it('sends no request before it is needed, then one for all callers, then another after an hour', async () => {
    expect(op.asked).toEqual([]);
    await Promise.all(Array.from({ length: 10 }, () => discovery.metadata()));
    expect(op.asked).toEqual([PATH]);
    clock.nowMs += 60 * 60_000;
    await discovery.metadata();
    expect(op.asked).toEqual([PATH, PATH]);
  });

  it('asks a failing provider less and less often, and says when, until it is back', async () => {
    op.faults.set(PATH, 'server-error');
    await expect(discovery.metadata()).rejects.toMatchObject({ retryAfterMs: 1_000 });
    await expect(discovery.metadata()).rejects.toMatchObject({ retryAfterMs: 1_000 });
    expect(op.asked).toHaveLength(1);
    clock.nowMs += 1_000;
    await expect(discovery.metadata()).rejects.toMatchObject({ retryAfterMs: 5_000 });
    expect(op.asked).toHaveLength(2);
    op.faults.clear();
    clock.nowMs += 5_000;
    expect(await discovery.metadata()).toMatchObject({ issuer: op.issuer });
  });

  it('keeps what it knows while the provider is away', async () => {
    await discovery.metadata();
    op.faults.set(PATH, 'html');
    clock.nowMs += 60 * 60_000;
    expect(await discovery.metadata()).toMatchObject({ issuer: op.issuer });
    expect(await discovery.metadata()).toMatchObject({ issuer: op.issuer });
    expect(op.asked).toHaveLength(2);
  });

  it('compares the issuer as text: a slash more is another issuer', async () => {
    op.breakage = { discovery: (document) => ({ ...document, issuer: `${op.issuer}/` }) };
    await expect(discovery.metadata()).rejects.toMatchObject({ failure: 'bad_discovery' });
  });
});
