import { readOAuthReturn, type OAuthReturn } from './oauth-return.js';

const RETURN = 'acme://okta';
const FRESH = 'flow=auth&pending=p&mode=keyless&provisioning=required';

describe(readOAuthReturn.name, () => {
  it.each<[string, OAuthReturn | null]>([
    [
      `${FRESH}&storagePolicy=optional&provisioningModes=plain,e2ee`,
      { kind: 'new', pending: 'p', provisioning: { kind: 'ask', modes: ['e2ee', 'plain'] } },
    ],
    [
      `${FRESH}&storagePolicy=optional&provisioningModes=plain`,
      { kind: 'new', pending: 'p', provisioning: { kind: 'selected', mode: 'plain' } },
    ],
    [
      `${FRESH}&storagePolicy=required_e2ee&provisioningModes=plain,e2ee`,
      { kind: 'new', pending: 'p', provisioning: { kind: 'selected', mode: 'e2ee' } },
    ],
    [
      `${FRESH}&storagePolicy=nonsense&provisioningModes=plain`,
      { kind: 'new', pending: 'p', provisioning: { kind: 'none' } },
    ],
    [
      `${FRESH}&storagePolicy=optional&provisioningModes=`,
      { kind: 'new', pending: 'p', provisioning: { kind: 'none' } },
    ],
    [
      'flow=auth&pending=p&mode=keyed&storagePolicy=optional&accountMode=e2ee',
      { kind: 'known', pending: 'p', accountMode: 'e2ee' },
    ],
    ['flow=connect&pending=p', { kind: 'connect', pending: 'p' }],
    ['flow=auth&error=not_eligible', { kind: 'failed', flow: 'auth', error: 'not_eligible' }],
    [
      'flow=auth&error=not_eligible&account=a1&reason=group_missing',
      {
        kind: 'failed',
        flow: 'auth',
        error: 'not_eligible',
        accountId: 'a1',
        reason: 'group_missing',
      },
    ],
    ['flow=connect&error=x&pending=p', { kind: 'failed', flow: 'connect', error: 'x' }],
    ['flow=auth&pending=', null],
    ['flow=auth&pending=p', null],
    ['flow=other&pending=p', null],
    ['', null],
  ])('reads %s', (query, expected) => {
    expect(readOAuthReturn(`${RETURN}?${query}`)).toEqual(expected);
  });

  it('reads nothing from an invalid address', () => {
    expect(readOAuthReturn('okta?flow=connect&pending=p')).toBeNull();
  });
});
