import { Random } from '../../../common/runtime/random.js';
import { resolveSettings } from '../../config/resolve-settings.js';
import type { Content } from '../../../core/protocol/content.js';
import { ContentAtRestService } from './content-at-rest.service.js';
import { MasterKeys } from './master-keys.js';
import { BrokenSealError, SealedBoxService } from './sealed-box.service.js';

const { settings } = resolveSettings({
  SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: 'optional',
  SERVICE_FEATURE_ENCRYPTION__PLAIN_ACCOUNT_SETTINGS_AT_REST: 'server_sealed',
});
const LARGE = 'x'.repeat(100_000);

let content: ContentAtRestService;

beforeEach(() => {
  const box = new SealedBoxService(
    new MasterKeys('a master secret of the tests', []),
    new Random(),
  );
  content = new ContentAtRestService(box, settings.encryption);
});

const plain = (v: unknown): Content => ({ t: 'plain', v });
const store = (v: unknown, owner = 'ada') => content.store('account-settings', plain(v), owner);

describe(ContentAtRestService.name, () => {
  it('reads a sealed value again', () => {
    const stored = store({ theme: 'dark' });
    expect(stored.form).toBe('sealed');
    for (let time = 0; time < 3; time += 1) {
      expect(content.read('account-settings', stored, 'ada')).toEqual(plain({ theme: 'dark' }));
    }
  });

  it('reads values that another process has written in the meantime', () => {
    const [first, second] = [store('first'), store('second')];
    expect(content.read('account-settings', first, 'ada')).toEqual(plain('first'));
    expect(content.read('account-settings', second, 'ada')).toEqual(plain('second'));
    expect(content.read('account-settings', first, 'ada')).toEqual(plain('first'));
  });

  it('refuses a value that was opened before and has changed, or is of another owner or purpose', () => {
    const stored = store('secret');
    content.read('account-settings', stored, 'ada');
    for (let index = 0; index < stored.bytes.length; index += 1) {
      const bytes = Buffer.from(stored.bytes);
      bytes.writeUInt8(bytes.readUInt8(index) ^ 1, index);
      const changed = { ...stored, bytes };
      expect(() => content.read('account-settings', changed, 'ada')).toThrow(BrokenSealError);
    }
    expect(() => content.read('account-settings', stored, 'bob')).toThrow(BrokenSealError);
    expect(() => content.read('account-credentials', stored, 'ada')).toThrow(BrokenSealError);
    expect(content.read('account-settings', stored, 'ada')).toEqual(plain('secret'));
  });

  it('returns a separate value to each reader', () => {
    const stored = store({ devices: [] });
    const first = content.read('account-settings', stored, 'ada') as { v: { devices: string[] } };
    first.v.devices.push('changed by a reader');
    expect(content.read('account-settings', stored, 'ada')).toEqual(plain({ devices: [] }));
  });

  it('reads more values, and larger ones, than it caches', () => {
    const owners = Array.from({ length: 60 }, (_, index) => `account-${index}`);
    const stored = owners.map((owner) => store(`${owner} ${LARGE}`, owner));
    const huge = store(LARGE.repeat(50));
    for (let time = 0; time < 2; time += 1) {
      expect(content.read('account-settings', huge, 'ada')).toEqual(plain(LARGE.repeat(50)));
      owners.forEach((owner, index) => {
        const value = stored[index] ?? huge;
        expect(content.read('account-settings', value, owner)).toEqual(plain(`${owner} ${LARGE}`));
      });
    }
  });
});
