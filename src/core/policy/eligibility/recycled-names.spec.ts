import {
  isAmbiguous,
  subjectsToRefuse,
  subjectToAdmit,
  type NamedSubject,
} from './recycled-names.js';

const ADA: NamedSubject = {
  subject: 'ada',
  isLinked: false,
  refusedBy: null,
  isShared: false,
  isOfOther: false,
};
const BOB: NamedSubject = { ...ADA, subject: 'bob' };

describe('a person of a directory with a name that may get other owners', () => {
  it.each<[string, readonly NamedSubject[], readonly string[], string | null, boolean]>([
    ['no subject', [], [], null, false],
    ['one', [ADA], ['ada'], 'ada', false],
    ['two', [ADA, BOB], ['ada', 'bob'], null, true],
    ['one that this person had refused', [{ ...ADA, refusedBy: 'person' }], [], 'ada', false],
    ['one that another one had refused', [{ ...ADA, refusedBy: 'another' }], [], null, false],
    ['the next owner', [{ ...ADA, refusedBy: 'another' }, BOB], ['bob'], 'bob', false],
    ['two refused ones', [{ ...ADA, refusedBy: 'person' }, BOB], ['bob'], null, true],
    ['one of an active namesake', [{ ...ADA, isShared: true }], [], null, true],
    ['a linked one', [{ ...ADA, isLinked: true, isShared: true }], ['ada'], 'ada', false],
  ])(
    'refuses and admits by a name that stands for %s',
    (_what, found, refused, admitted, ambiguous) => {
      expect(subjectsToRefuse(found, false)).toEqual(refused);
      expect(subjectToAdmit(found)).toBe(admitted);
      expect(isAmbiguous(found)).toBe(ambiguous);
    },
  );

  it('refuses a person who was hired again by the first request about the leaver alone', () => {
    const again = { ...ADA, isLinked: true, isShared: true, isOfOther: true };
    expect(subjectsToRefuse([again], false)).toEqual(['ada']);
    expect(subjectsToRefuse([again], true)).toEqual([]);
  });
});
