import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationError } from '../environment/configuration-error.js';
import { loadTlsContext } from './tls-files.js';

const directory = mkdtempSync(join(tmpdir(), 'tls-files-'));
const path = join(directory, 'file');

describe(loadTlsContext.name, () => {
  it.each<[string, Buffer]>([
    ['is encoded as UTF-16; save it as UTF-8.', Buffer.from('\uFEFF-----BEGIN', 'utf16le')],
    ['is binary (DER or PKCS #12); convert it to PEM.', Buffer.from('3082010a', 'hex')],
  ])('refuses a file that %s', async (words, bytes) => {
    writeFileSync(path, bytes);
    const key = { variable: 'KEY', path: join(directory, 'key') };
    writeFileSync(key.path, 'read at the same time');
    const error = await loadTlsContext({ cert: { variable: 'CERT', path }, key }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(ConfigurationError);
    const { problems } = error as ConfigurationError;
    expect(problems).toEqual([{ variable: 'CERT', message: `names a file that ${words}` }]);
  });
});
