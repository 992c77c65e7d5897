import { MasterKeys } from './master-keys.js';
import { judgeStoredKeys, type StoredKey } from './stored-keys.js';

const [OLD, NEW, OTHER] = ['old', 'new', 'other'].map((name) => name.repeat(12)) as [
  string,
  string,
  string,
];

const idOf = (secret: string): string => new MasterKeys(secret, []).currentKey('seal').id;

const sealedWith = (secret: string, count: number): StoredKey => ({
  purpose: 'account-settings',
  keyId: idOf(secret),
  count,
});

describe(judgeStoredKeys.name, () => {
  it('counts the values of each secret', () => {
    const keys = new MasterKeys(NEW, [OLD]);
    expect(judgeStoredKeys([sealedWith(OLD, 3), sealedWith(NEW, 2)], keys)).toEqual({
      counts: { current: 2, previous: 3, former: 0, unknown: 0 },
      unknownKeyIds: [],
      isWrongSecret: false,
    });
  });

  it('finds a wrong secret where most values need another one', () => {
    const keys = new MasterKeys(NEW, []);
    expect(judgeStoredKeys([sealedWith(OLD, 3), sealedWith(NEW, 2)], keys)).toEqual({
      counts: { current: 2, previous: 0, former: 0, unknown: 3 },
      unknownKeyIds: [idOf(OLD)],
      isWrongSecret: true,
    });
  });

  it('accepts the secret where some values need one that is lost', () => {
    const report = judgeStoredKeys(
      [sealedWith(OTHER, 1), sealedWith(NEW, 1)],
      new MasterKeys(NEW, []),
    );
    expect(report).toMatchObject({ counts: { unknown: 1 }, isWrongSecret: false });
  });

  it('accepts any secret where nothing is sealed', () => {
    expect(judgeStoredKeys([], new MasterKeys(NEW, [])).isWrongSecret).toBe(false);
  });

  it('reports values of a secret that the configuration no longer has', () => {
    const keys = new MasterKeys(OLD, []);
    keys.replace(NEW, []);
    expect(judgeStoredKeys([sealedWith(OLD, 1)], keys)).toMatchObject({
      counts: { current: 0, former: 1, unknown: 0 },
      isWrongSecret: false,
    });
    keys.replace(NEW, [OLD]);
    expect(judgeStoredKeys([sealedWith(OLD, 1)], keys).counts).toMatchObject({ previous: 1 });
  });
});
