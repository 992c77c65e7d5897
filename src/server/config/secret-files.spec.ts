import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationError } from './environment/configuration-error.js';
import { resolveSettings } from './resolve-settings.js';
import { SECRET_NAMES } from './settings.js';

const SECRET = 'a-master-secret-of-32-bytes-or-more!';

describe('a secret read from a file', () => {
  let directory: string;
  let path: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'secret-files-'));
    path = join(directory, 'secret');
  });

  function messageFor(environment: Record<string, string>): string {
    try {
      resolveSettings(environment);
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigurationError);
      return (error as ConfigurationError).message;
    }
    return '';
  }

  it.each([
    ['', ''],
    ['', '\n'],
    ['', '\r\n'],
    ['', '\n\n'],
    ['', '\r\n\r\n'],
    ['\uFEFF', '\r\n'],
  ])('loses a byte order mark (%j) and line ends (%j), and nothing else', (mark, end) => {
    writeFileSync(path, `${mark} ${SECRET} ${end}`);
    const { settings } = resolveSettings({ SERVICE_MASTER_SECRET_FILE: path });
    expect(settings.storage.masterSecret).toBe(` ${SECRET} `);
  });

  it.each<[string, Buffer]>([
    ['is encoded as UTF-16', Buffer.from(`\uFEFF${SECRET}`, 'utf16le')],
    ['is encoded as UTF-16', Buffer.from(`\uFEFF${SECRET}`, 'utf16le').swap16()],
    ['is encoded as UTF-16', Buffer.from(SECRET, 'utf16le')],
    ['is not encoded as UTF-8', Buffer.from(`${SECRET}ä`, 'latin1')],
    ['has more than one line', Buffer.from(`${SECRET}\n${SECRET}`)],
    ['has more than one line', Buffer.from(`${SECRET}\r${SECRET}\n`)],
  ])('is refused when the file %s (%#)', (failure, bytes) => {
    writeFileSync(path, bytes);
    const message = messageFor({ SERVICE_MASTER_SECRET_FILE: path });
    expect(message).toContain(`SERVICE_MASTER_SECRET_FILE: names a file that ${failure}`);
    expect(message).not.toContain('a-master');
  });

  it('may have several lines when it is a key in PEM or JSON', () => {
    const pem = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey;
    writeFileSync(path, `\uFEFF${pem.export({ type: 'pkcs8', format: 'pem' }).toString()}\n\n`);
    const app = { AUTH_GITHUB_APP_ID: '1', AUTH_GITHUB_APP_PRIVATE_KEY_FILE: path };
    const others = {
      ...{ SERVICE_MASTER_SECRET: SECRET, GITHUB_CLIENT_ID: 'id', GITHUB_CLIENT_SECRET: 'secret' },
      ...{ AUTH_GITHUB_ALLOWED_ORGS: 'acme', AUTH_GITHUB_APP_INSTALLATION_ID_BY_ORG: 'acme=1' },
    };
    expect(messageFor({ ...others, ...app })).toBe('');
    writeFileSync(path, '\uFEFF[\r\n]\r\n\r\n');
    expect(
      messageFor({ SERVICE_MASTER_SECRET: SECRET, AUTH_PROVIDERS_CONFIG_JSON_FILE: path }),
    ).toBe('');
  });

  it('can be given to a list as an older version read it', () => {
    const { settings } = resolveSettings({
      ...{ DATABASE_URL: 'postgres://u@db/gate', SERVICE_MASTER_SECRET: SECRET },
      SERVICE_MASTER_SECRET_PREVIOUS: `"${SECRET}\n",${SECRET}\n${SECRET}`,
    });
    expect(settings.storage.masterSecretsPrevious).toEqual([`${SECRET}\n`, `${SECRET}\n${SECRET}`]);
  });

  it('follows the same rules when a provider names it', () => {
    const list = join(directory, 'providers.json');
    const entry = { id: 'okta', type: 'oidc', displayName: 'Okta', clientId: 'c' };
    const read = (field: string, bytes: string | Buffer): string => {
      const given = { ...entry, issuer: 'https://acme.okta.com', [field]: 'secret' };
      writeFileSync(path, bytes);
      writeFileSync(list, `\uFEFF${JSON.stringify([given])}`);
      const environment = {
        AUTH_PROVIDERS_CONFIG_PATH: list,
        SERVICE_PUBLIC_URL: 'https://gate.example.com',
      };
      const message = messageFor(environment);
      return message === ''
        ? String(resolveSettings(environment).settings.providers[0]?.clientSecret)
        : message;
    };
    expect(read('clientSecretFile', '\uFEFF a secret\r\n\r\n')).toBe(' a secret');
    for (const field of ['clientSecretFile', 'clientAssertionFile']) {
      const refused = `[0].${field} names a file that`;
      expect(read(field, 'a\nsecret')).toContain(`${refused} has more than one line.`);
      expect(read(field, Buffer.from('a secret', 'utf16le'))).toContain(
        `${refused} is encoded as UTF-16; save it as UTF-8.`,
      );
    }
  });

  it('is possible for every secret, and no other variable', () => {
    expect(SECRET_NAMES).toEqual([
      'DATABASE_URL',
      'REDIS_URL',
      'REDIS_SENTINEL_PASSWORD',
      'SERVICE_MASTER_SECRET',
      'SERVICE_MASTER_SECRET_PREVIOUS',
      'AUTH_PROVIDERS_CONFIG_JSON',
      'GITHUB_CLIENT_SECRET',
      'AUTH_GITHUB_APP_PRIVATE_KEY',
      'AUTH_GITHUB_WEBHOOK_SECRET',
      'METRICS_TOKEN',
    ]);
    expect(messageFor({ PORT: '1', SERVICE_LOG_LEVEL_FILE: path })).toContain(
      'SERVICE_LOG_LEVEL_FILE: is not a variable of this server; did you mean SERVICE_LOG_LEVEL?',
    );
  });

  it('is used again after a change or needs a restart, as the docs list', () => {
    const page = (name: string) =>
      readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8');
    const [, table = ''] = page('operate.md').split('| a changed file is used');
    const [rows = ''] = table.split('\n\n');
    const reread = rows.replace('`…_PREVIOUS_FILE`', '`SERVICE_MASTER_SECRET_PREVIOUS_FILE`');
    const [, sentence = ''] =
      /Only after\n?a change of ([^:]*)/.exec(page('deploy-kubernetes.md')) ?? [];
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const values: Partial<Record<string, string>> = {
      DATABASE_URL: 'postgres://u:p@db/gate',
      REDIS_URL: 'redis://host',
      AUTH_PROVIDERS_CONFIG_JSON: '[]',
      AUTH_GITHUB_APP_PRIVATE_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    };
    const others = {
      SERVICE_MASTER_SECRET: SECRET,
      GITHUB_CLIENT_ID: 'id',
      GITHUB_CLIENT_SECRET: 'secret',
      AUTH_GITHUB_APP_ID: '1',
      AUTH_GITHUB_APP_PRIVATE_KEY: values['AUTH_GITHUB_APP_PRIVATE_KEY'],
      AUTH_GITHUB_ALLOWED_ORGS: 'acme',
      AUTH_GITHUB_APP_INSTALLATION_ID_BY_ORG: 'acme=1',
    };
    for (const name of SECRET_NAMES) {
      writeFileSync(path, values[name] ?? SECRET);
      const environment = { ...others, [name]: '', [`${name}_FILE`]: path };
      const settings = JSON.stringify(resolveSettings(environment));
      const needsRestart = !settings.includes(path);
      expect([name, sentence.includes(`\`${name}\``)]).toEqual([name, needsRestart]);
      expect([name, reread.includes(`\`${name}_FILE\``)]).toEqual([name, !needsRestart]);
    }
  });

  it('works for the database address', () => {
    writeFileSync(path, 'postgres://u:p@db/gate\n');
    const { settings } = resolveSettings({
      DATABASE_URL_FILE: path,
      SERVICE_MASTER_SECRET: SECRET,
    });
    expect(settings.storage.databaseUrl).toBe('postgres://u:p@db/gate');
  });

  it('is refused when the variable is set as well', () => {
    writeFileSync(path, SECRET);
    expect(
      messageFor({ SERVICE_MASTER_SECRET: SECRET, SERVICE_MASTER_SECRET_FILE: path }),
    ).toContain('SERVICE_MASTER_SECRET: and SERVICE_MASTER_SECRET_FILE are both set');
  });

  it('is refused when it is too short, without being printed', () => {
    writeFileSync(path, 'hunter2');
    const message = messageFor({ SERVICE_MASTER_SECRET_FILE: path });
    expect(message).toContain('SERVICE_MASTER_SECRET: must be at least 32 bytes long');
    expect(message).not.toContain('hunter2');
  });

  it('is refused when the file is missing, a directory or empty', () => {
    const missing = { SERVICE_MASTER_SECRET_FILE: join(directory, 'missing') };
    expect(messageFor({ ...missing, DATABASE_URL: 'postgres://db/x' })).toBe(
      'The configuration has one problem:\n' +
        '  SERVICE_MASTER_SECRET_FILE: names a file that does not exist.',
    );
    expect(messageFor({ SERVICE_MASTER_SECRET_FILE: directory })).toContain('is not a file');
    writeFileSync(path, '\n');
    expect(messageFor({ SERVICE_MASTER_SECRET_FILE: path })).toContain('is empty');
  });

  it('is refused when the file is larger than any secret', () => {
    writeFileSync(path, 'x'.repeat(1_048_577));
    expect(messageFor({ SERVICE_MASTER_SECRET_FILE: path })).toContain('larger than 1 MiB');
  });
});
