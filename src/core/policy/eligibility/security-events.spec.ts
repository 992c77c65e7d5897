import { knownEvent, REQUESTED_EVENTS } from './security-events.js';

const address = (profile: string, kind: string): string =>
  `https://schemas.openid.net/secevent/${profile}/event-type/${kind}`;

const KNOWN = [
  ['caep', 'session-revoked', 'sign-out'],
  ['risc', 'sessions-revoked', 'sign-out'],
  ['risc', 'account-disabled', 'refuse'],
  ['risc', 'account-purged', 'refuse'],
  ['risc', 'account-enabled', 'admit'],
  ['caep', 'credential-change', 'recheck'],
  ['caep', 'token-claims-change', 'recheck'],
  ['risc', 'identifier-changed', 'forget-email'],
  ['risc', 'identifier-recycled', 'forget-email'],
  ['caep', 'assurance-level-change', 'risk'],
  ['caep', 'device-compliance-change', 'risk'],
  ['caep', 'risk-level-change', 'risk'],
  ['ssf', 'verification', 'none'],
  ['ssf', 'stream-updated', 'none'],
] as const;

describe(knownEvent.name, () => {
  it.each(KNOWN)('reads %s/%s with the effect %s', (profile, kind, effect) => {
    expect(knownEvent(address(profile, kind))).toEqual({ kind, effect });
  });

  it.each([
    '',
    'session-revoked',
    'constructor',
    '__proto__',
    address('caep', 'sessions-revoked'),
    `${address('caep', 'session-revoked')}/`,
  ])('does not know %j', (text) => {
    expect(knownEvent(text)).toBeNull();
  });
});

describe('REQUESTED_EVENTS', () => {
  it('has every known event except for those about the stream', () => {
    const expected = KNOWN.filter(([profile]) => profile !== 'ssf');
    expect(REQUESTED_EVENTS).toEqual(expected.map(([profile, kind]) => address(profile, kind)));
  });
});
