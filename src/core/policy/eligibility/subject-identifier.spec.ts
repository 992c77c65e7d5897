import { readEventSubject, readSubject } from './subject-identifier.js';

const ISSUERS = ['https://idp.example.com', 'https://old.example.com'];

describe(readSubject.name, () => {
  it.each<[object, ReturnType<typeof readSubject>]>([
    [{ format: 'email', email: 'Ada@example.com' }, { email: 'Ada@example.com' }],
    [{ format: 'opaque', id: 's1' }, { subject: 's1' }],
    [{ format: 'opaque', id: 'x'.repeat(320) }, { subject: 'x'.repeat(320) }],
    [{ format: 'iss_sub', iss: ISSUERS[0], sub: 's1' }, { subject: 's1' }],
    [{ format: 'iss_sub', iss: ISSUERS[1], sub: 's1' }, { subject: 's1' }],
    [{ format: 'iss_sub', iss: 'https://else.example.com', sub: 's1' }, 'foreign'],
  ])('reads %j', (identifier, name) => {
    expect(readSubject(identifier, ISSUERS)).toEqual(name);
  });

  it.each([
    ...[undefined, null, 's1', [], {}, { id: 's1' }, { format: 'phone_number', phone_number: '1' }],
    ...[{ format: 'email' }, { format: 'email', email: 'ada' }, { format: 'email', email: 7 }],
    ...[
      { format: 'opaque', id: '' },
      { format: 'opaque', id: 'a\0b' },
    ],
    ...[{ format: 'opaque', id: 'x'.repeat(321) }],
    ...[
      { format: 'iss_sub', sub: 's1' },
      { format: 'iss_sub', iss: ISSUERS[0] },
    ],
  ])('does not read %j', (identifier) => {
    expect(readSubject(identifier, ISSUERS)).toBeNull();
  });
});

describe(readEventSubject.name, () => {
  const ADA = { format: 'iss_sub', iss: ISSUERS[0], sub: 's1' };
  const MAIL = { format: 'email', email: 'ada@example.com' };
  const PHONE = { format: 'phone_number', phone_number: '+491' };
  const FOREIGN = { ...ADA, iss: 'https://else.example.com' };

  it.each<[object, ReturnType<typeof readEventSubject>]>([
    [ADA, { names: [{ subject: 's1' }], session: null }],
    [FOREIGN, { names: [], session: null }],
    [
      { format: 'account', uri: 'acct:ada@example.com' },
      { names: [{ email: 'ada@example.com' }], session: null },
    ],
    [
      { format: 'aliases', identifiers: [ADA, MAIL, FOREIGN] },
      { names: [{ subject: 's1' }, { email: 'ada@example.com' }], session: null },
    ],
    [
      { format: 'complex', user: MAIL },
      { names: [{ email: MAIL.email }], session: null },
    ],
    [
      { format: 'complex', user: { format: 'aliases', identifiers: [PHONE, MAIL] } },
      { names: [{ email: MAIL.email }], session: null },
    ],
    [
      { format: 'complex', session: { format: 'opaque', id: 'sid-1' } },
      { names: [], session: 'sid-1' },
    ],
    [
      { user: ADA, session: FOREIGN },
      { names: [], session: null },
    ],
    [
      { device: { format: 'opaque', id: 'd' }, tenant: ADA },
      { names: [], session: null },
    ],
    [PHONE, { names: [], session: null }],
    [
      { ...MAIL, user: ADA },
      { names: [{ email: MAIL.email }], session: null },
    ],
    [
      { format: 'opaque', id: 's1', uri: 'acct:ada@example.com' },
      { names: [{ subject: 's1' }], session: null },
    ],
    [
      { format: 'aliases', identifiers: [MAIL, PHONE, { format: 'did', url: 'did:example:1' }] },
      { names: [{ email: MAIL.email }], session: null },
    ],
    [
      {
        user: ADA,
        session: { format: 'opaque', id: 'sid-1' },
        device: { format: 'opaque', id: 'd' },
      },
      { names: [{ subject: 's1' }], session: 'sid-1' },
    ],
  ])('reads %j', (identifier, subject) => {
    expect(readEventSubject(identifier, ISSUERS)).toEqual(subject);
  });

  it.each([
    ...[
      undefined,
      null,
      'ada',
      [],
      {},
      { format: 'aliases' },
      { format: 'aliases', identifiers: [{}] },
    ],
    ...[{ format: 'complex' }, { format: 'account', uri: 'ada@example.com' }, { user: 's1' }],
    ...[
      { user: ADA, session: MAIL },
      { user: ADA, session: 7 },
      { format: 'aliases', identifiers: [MAIL, {}] },
      { format: 'account', uri: ['acct:ada@example.com'] },
      { format: 'account', uri: 'x acct:ada@example.com' },
      { format: 'account', uri: 'acct:ada@example.com\nx' },
      { format: 'aliases', identifiers: [{ format: 'aliases', identifiers: [MAIL] }] },
    ],
  ])('does not read %j', (identifier) => {
    expect(readEventSubject(identifier, ISSUERS)).toBeNull();
  });
});
