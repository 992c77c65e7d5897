import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationError } from '../configuration-error.js';
import { SECRET_NAMES } from './env.js';
import { resolveSettings } from '../resolve-settings.js';

const SECRET = 'a-master-secret-of-32-bytes-or-more!';

describe('a secret read from a file', () => {
  let directory: string;
  let path: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'secret-files-'));
    path = join(directory, 'secret');
  });

  afterEach(() => rmSync(directory, { recursive: true }));

  function messageFor(environment: Record<string, string>): string {
    try {
      resolveSettings(environment);
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigurationError);
      return (error as ConfigurationError).message;
    }
    return '';
  }

  it.each(['', '\n', '\r\n'])('loses one trailing line break (%j), and nothing else', (end) => {
    writeFileSync(path, ` ${SECRET} ${end}`);
    const { settings } = resolveSettings({ SERVICE_MASTER_SECRET_FILE: path });
    expect(settings.storage.masterSecret).toBe(` ${SECRET} `);
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
    expect(messageFor({ PORT: '1', SERVICE_LOG_LEVEL_FILE: path })).toBe('');
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
