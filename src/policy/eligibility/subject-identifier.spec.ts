import { readSubject } from './subject-identifier.js';

const ISSUERS = ['https://idp.example.com', 'https://old.example.com'];

describe(readSubject.name, () => {
  it.each<[object, ReturnType<typeof readSubject>]>([
    [{ format: 'email', email: 'Ada@example.com' }, { email: 'Ada@example.com' }],
    [{ format: 'opaque', id: 's1' }, { subject: 's1' }],
    [{ format: 'iss_sub', iss: ISSUERS[0], sub: 's1' }, { subject: 's1' }],
    [{ format: 'iss_sub', iss: ISSUERS[1], sub: 's1' }, { subject: 's1' }],
    [{ format: 'iss_sub', iss: 'https://else.example.com', sub: 's1' }, 'foreign'],
  ])('reads %j', (identifier, name) => {
    expect(readSubject(identifier, ISSUERS)).toEqual(name);
  });

  it.each([
    ...[null, 's1', [], {}, { id: 's1' }, { format: 'phone_number', phone_number: '1' }],
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
