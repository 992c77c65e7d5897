import { leaverIn } from './github-event.js';

describe(leaverIn, () => {
  it.each([
    ['organization', { action: 'member_removed', membership: { user: { id: 7 } } }],
    ['membership', { action: 'removed', member: { id: 7 } }],
    ['github_app_authorization', { action: 'revoked', sender: { id: 7 } }],
  ])('finds who may have left in %s', (event, payload) => {
    expect(leaverIn(event, payload)).toBe('7');
    expect(leaverIn(event, { ...payload, action: 'added' })).toBeNull();
  });

  it.each([
    ['membership', null],
    ['membership', 'removed'],
    ['membership', { action: 'removed' }],
    ['membership', { action: 'removed', member: { id: '7' } }],
    ['membership', { action: 'removed', member: { id: 7.5 } }],
    ['constructor', { action: 'removed' }],
    ['__proto__', { action: 'removed' }],
    ['', {}],
  ])('finds nobody in %s %j', (event, payload) => {
    expect(leaverIn(event, payload)).toBeNull();
  });
});
