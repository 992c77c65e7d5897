import { Runtime } from '../../../common/runtime/runtime.js';
import { FakeOpenIdProvider } from '../../../../test/fakes/openid-provider.js';
import { DIRECT, oidcSettings } from '../../../../test/fixtures/provider-settings-fixture.js';
import { ManualClock } from '../../../../test/fixtures/manual-clock.js';
import type { Fault } from '../../../../test/helpers/local-server.js';
import { OidcDiscovery } from './oidc-discovery.js';
import { UpstreamHttp } from '../http/upstream-http.js';

const PATH = '/.well-known/openid-configuration';

describe(OidcDiscovery, () => {
  let op: FakeOpenIdProvider;
  let discovery: OidcDiscovery;
  const clock = new ManualClock();

  beforeEach(async () => {
    clock.nowMs = 1_000_000;
    op = await FakeOpenIdProvider.start();
    discovery = new OidcDiscovery(
      oidcSettings(op.issuer),
      new UpstreamHttp(new Runtime(clock), DIRECT),
      clock,
    );
  });

  afterEach(() => op.close());

  it('sends no request before it is needed, then one for all callers, then another after an hour', async () => {
    expect(op.requests).toEqual([]);
    await Promise.all(Array.from({ length: 10 }, () => discovery.metadata()));
    expect(op.requests).toEqual([PATH]);
    clock.nowMs += 60 * 60_000;
    await discovery.metadata();
    expect(op.requests).toEqual([PATH, PATH]);
  });

  it('calls a failing provider less and less often, and reports when, until it is back', async () => {
    op.faults.set(PATH, 'server-error');
    await expect(discovery.metadata()).rejects.toMatchObject({ retryAfterMs: 1_000 });
    await expect(discovery.metadata()).rejects.toMatchObject({ retryAfterMs: 1_000 });
    expect(op.requests).toHaveLength(1);
    clock.nowMs += 1_000;
    await expect(discovery.metadata()).rejects.toMatchObject({ retryAfterMs: 5_000 });
    expect(op.requests).toHaveLength(2);
    op.faults.clear();
    clock.nowMs += 5_000;
    expect(await discovery.metadata()).toMatchObject({ issuer: op.issuer });
  });

  it('keeps its last document while the provider is unavailable', async () => {
    await discovery.metadata();
    op.faults.set(PATH, 'html');
    clock.nowMs += 60 * 60_000;
    expect(await discovery.metadata()).toMatchObject({ issuer: op.issuer });
    expect(await discovery.metadata()).toMatchObject({ issuer: op.issuer });
    expect(op.requests).toHaveLength(2);
  });

  it('compares the issuer as text: a slash more is another issuer', async () => {
    op.breakage = { discovery: (document) => ({ ...document, issuer: `${op.issuer}/` }) };
    await expect(discovery.metadata()).rejects.toMatchObject({
      ...{ failure: 'bad_discovery', detail: `the issuer ${op.issuer}/` },
    });
  });

  it.each<[string, Fault | object]>([
    ['HTTP 404', 'not-found'],
    ['no JSON', 'html'],
    ['no issuer', { issuer: undefined }],
    ['no issuer', { issuer: 'a b' }],
    ['no issuer', { issuer: `https://${'x'.repeat(200)}` }],
    ['the issuer https://idp.example', { issuer: 'https://idp.example' }],
  ])('names what was found in place of the document: %s', async (detail, given) => {
    if (typeof given === 'string') {
      op.faults.set(PATH, given);
    } else {
      op.breakage = { discovery: (document) => ({ ...document, ...given }) };
    }
    await expect(discovery.metadata()).rejects.toMatchObject({ failure: 'bad_discovery', detail });
  });
});
