import { IdentityEvents, type AccessChange } from './identity.events.js';

describe(IdentityEvents.name, () => {
  const received = (change: AccessChange): AccessChange[] => {
    const events = new IdentityEvents();
    const changes: AccessChange[] = [];
    events.on('access-changed', (one) => changes.push(one));
    events.receiveAccessChange(change);
    return changes;
  };

  it.each([
    { accountId: 'account', closes: 'token-revoked' as const },
    { accountId: 'account', closes: 'provider-required' as const, provider: 'okta' },
  ])('checks connections in place of closing those of a later login: %j', (change) => {
    expect(received(change)).toEqual([{ accountId: 'account', judgesConnections: true }]);
  });

  it.each([
    { accountId: 'account', sessionId: 'session', closes: 'token-revoked' as const },
    { accountId: 'account', judgesConnections: true },
    { accountId: 'account' },
  ])('applies a change that names its session, or closes nothing, as it is: %j', (change) => {
    expect(received(change)).toEqual([change]);
  });
});
