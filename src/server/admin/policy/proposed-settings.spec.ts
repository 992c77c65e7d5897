import { AppError } from '../../../common/errors.js';
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

/** Returns true if a field, or one within it, has the name of a path. */
function namesFile([name, field]: readonly [string, object]): boolean {
  const { wrapped = {} } = field as { readonly wrapped?: object };
  const { entries = {} } = wrapped as { readonly entries?: Readonly<Record<string, object>> };
  return /file|path/i.test(name) || Object.entries(entries).some(namesFile);
}

describe('the settings of a plan', () => {
  it('accepts entries of providers without credentials', () => {
    const allow = { groupsAny: ['directors'] };
    for (const extra of [{}, { clientSecret: null }, { clientSecret: 'x' }]) {
      expect(providersOf(JSON.stringify([{ ...ENTRY, ...extra, allow }]))).toEqual([
        expect.objectContaining({ id: 'people', allow: expect.objectContaining(allow) }),
      ]);
    }
    expect(providersOf('')).toEqual([]);
    expect(providersOf(' [] ')).toEqual([]);
  });

  it('refuses every name that the server does not know, with the near one', () => {
    const changes = {
      ...{ AUTH_REQUIRED_LOGIN_PROVIDER: 'okta', PORT: '1', constructor: 'x' },
      ...{ ADMIN_TOKENS_FILE: '/etc/passwd', NO_SUCH_NAME_AT_ALL: '' },
    };
    const refused = (): unknown => {
      try {
        return proposedSettings(changes);
      } catch (error) {
        return error instanceof AppError ? error.extras : error;
      }
    };
    expect(refused()).toEqual({
      details: [
        {
          path: 'environment.AUTH_REQUIRED_LOGIN_PROVIDER',
          message: expect.stringContaining('did you mean AUTH_REQUIRED_LOGIN_PROVIDERS?'),
        },
        { path: 'environment.constructor', message: 'is not a variable of this server.' },
        {
          path: 'environment.ADMIN_TOKENS_FILE',
          message: expect.stringContaining('neither names a file nor holds a secret'),
        },
        { path: 'environment.NO_SUCH_NAME_AT_ALL', message: 'is not a variable of this server.' },
      ],
    });
    expect(() => proposedSettings({ ...PRESENT, PORT: '1' })).not.toThrow();
  });

  it('refuses entries of backends with the same message for any path of a secret', () => {
    const answers = ['/etc/passwd', '/etc/no-such-file', '/etc'].map((secretFile) => {
      const entry = { id: 'relay', resource: 'https://relay.example.com', client: { secretFile } };
      const text = JSON.stringify([entry]);
      try {
        return proposedSettings({ ...PRESENT, AUTH_RESOURCE_SERVERS_CONFIG_JSON: text });
      } catch (error) {
        return error instanceof AppError ? error.extras : error;
      }
    });
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({
      details: [{ path: 'environment.AUTH_RESOURCE_SERVERS_CONFIG_JSON' }],
    });
  });

  it('knows every field of an entry that names a file', () => {
    const naming = Object.entries<object>(PROVIDER_ENTRY.entries).filter(namesFile);
    expect(naming.map(([name]) => name).sort()).toEqual([...FIELDS_WITH_FILES, 'signals'].sort());
  });

  it('refuses the file of a stream of security events', () => {
    const sharedSignals = { transmitter: 'https://idp.example.com', pushTokenFile: '/etc/passwd' };
    const entry = JSON.stringify([{ ...ENTRY, signals: { sharedSignals } }]);
    expect(JSON.stringify(detailsOf(entry))).toContain('pushTokenFile must be left out');
  });

  it('refuses the file of a directory, and plans its other rules', () => {
    const entry = (scim: object) => JSON.stringify([{ ...ENTRY, signals: { scim } }]);
    const answers = ['/etc/passwd', '/etc/no-such-file', 7, null].map((tokenFile) =>
      JSON.stringify(detailsOf(entry({ tokenFile }))),
    );
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toContain('[0].signals.scim.tokenFile must be left out');
    const planned = proposedSettings({ AUTH_PROVIDERS_CONFIG_JSON: entry({ required: true }) });
    expect(planned.auth.offboarding.directories).toEqual(['people']);
  });

  describe.each(FIELDS_WITH_FILES)('%s', (field) => {
    // Paths that exist and others, after a byte order mark, which the reader of variables trims.
    it.each(['', '\uFEFF'])('is refused with the same message for any path (%j)', (before) => {
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
    'reports that %s is no list of providers',
    (text) => {
      expect(detailsOf(text)).toMatchObject({ details: [{ message: expect.any(String) }] });
    },
  );
});
