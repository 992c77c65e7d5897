import { AppError } from '../../common/errors.js';
import { FIELDS_WITH_FILES, PROVIDER_ENTRY } from '../../config/providers-file/provider-entry.js';
import { proposedSettings } from './proposed-settings.js';

const ENTRY = {
  id: 'people',
  type: 'oidc',
  issuer: 'https://login.example.com',
  clientId: 'gatehouse',
};
const PRESENT = { AUTH_REQUIRED_LOGIN_PROVIDERS: '' };

function providersOf(text: string) {
  return proposedSettings({ ...PRESENT, AUTH_PROVIDERS_CONFIG_JSON: text }).providers;
}

function detailsOf(text: string): unknown {
  try {
    providersOf(text);
  } catch (error) {
    return error instanceof AppError ? error.extras : error;
  }
  return 'planned';
}

/** Whether a field, or one within it, is named as if it held a path. */
function namesFile([name, field]: readonly [string, object]): boolean {
  const { wrapped = {} } = field as { readonly wrapped?: object };
  const { entries = {} } = wrapped as { readonly entries?: Readonly<Record<string, object>> };
  return /file|path/i.test(name) || Object.entries(entries).some(namesFile);
}

describe('the settings of a plan', () => {
  it('take entries of providers, which need no credentials', () => {
    const allow = { groupsAny: ['directors'] };
    for (const extra of [{}, { clientSecret: null }, { clientSecret: 'x' }]) {
      expect(providersOf(JSON.stringify([{ ...ENTRY, ...extra, allow }]))).toEqual([
        expect.objectContaining({ id: 'people', allow: expect.objectContaining(allow) }),
      ]);
    }
    expect(providersOf('')).toEqual([]);
    expect(providersOf(' [] ')).toEqual([]);
  });

  it('know every field of an entry that names a file', () => {
    const naming = Object.entries<object>(PROVIDER_ENTRY.entries).filter(namesFile);
    expect(naming.map(([name]) => name).sort()).toEqual([...FIELDS_WITH_FILES].sort());
  });

  describe.each(FIELDS_WITH_FILES)('%s', (field) => {
    // Files that exist and others; behind a byte order mark, which the reader of variables trims.
    it.each(['', '\uFEFF'])('is refused in the same words, whatever it names (%j)', (before) => {
      const answers = ['/etc/passwd', '/etc/no-such-file', '/etc', 'relative', 7, null].map(
        (value) => detailsOf(before + JSON.stringify([ENTRY, { ...ENTRY, [field]: value }])),
      );
      expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
      const message = before === '' ? `[1].${field} must be left out` : 'is not valid JSON.';
      expect(JSON.stringify(answers[0])).toContain(message);
    });

    it('is refused where the file would be used', () => {
      const text = JSON.stringify([{ ...ENTRY, clientSecret: 'x', [field]: '/etc/passwd' }]);
      expect(JSON.stringify(detailsOf(text))).toContain(`[0].${field} must be left out`);
    });
  });

  it.each(['{', '{}', '7', '"x"', '[7]', '[null]', '[[]]', '{"clientKeyFile":"/etc/passwd"}'])(
    'report that %s is no list of providers',
    (text) => {
      expect(detailsOf(text)).toMatchObject({ details: [{ message: expect.any(String) }] });
    },
  );
});
