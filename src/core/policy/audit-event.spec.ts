import { toOperatorName } from './audit-event.js';

describe(toOperatorName.name, () => {
  it.each([
    'alice',
    'a',
    'Zoë Müller',
    'ops+on-call@acme.example',
    'root',
    'admin',
    '管理者',
    'x'.repeat(64),
  ])('accepts %j', (name) => {
    expect(toOperatorName(name)).toBe(name);
  });

  it.each([
    ...['user', 'User', 'SYSTEM', 'provider', 'ｕｓｅｒ', 'sy\u017ftem'],
    ...['', ' ', ' alice', 'alice ', 'user ', 'x'.repeat(65), '👍'.repeat(65)],
    ...['a\nb', 'a\u0000', '\u001b[31malice', 'a\tb', '\u202eresu', 'us\u200ber', '\ud800'],
  ])('refuses %j', (name) => {
    expect(toOperatorName(name)).toBeNull();
  });
});
