import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  certificateDirectory,
  TestAuthority,
} from '../../../../test/fixtures/certificates-fixture.js';
import { ConfigurationError } from '../environment/configuration-error.js';
import { loadTlsContext, pollTlsFiles } from './tls-files.js';

const directory = certificateDirectory();
const authority = TestAuthority.root(directory, 'Acme');
const gate = authority.issue({ subject: '/CN=gate', usage: 'serverAuth' });
const other = authority.issue({ subject: '/CN=other', usage: 'serverAuth' });

let files = 0;
const file = (variable: string, text: string) => {
  const path = join(directory, `file-${(files += 1)}`);
  writeFileSync(path, text);
  return { variable, path };
};
const cert = (text = gate.cert) => file('CERT_PATH', text);
const key = (text = gate.key) => file('KEY_PATH', text);
const ca = (text = authority.cert) => file('CA_PATH', text);
const absent = (variable: string) => ({ variable, path: join(directory, 'absent') });

function encrypted(): string {
  const args = ['pkcs8', '-topk8', '-in', gate.keyPath, '-passout', 'pass:hush-hush'];
  return execFileSync('openssl', args, { encoding: 'utf8' });
}

describe(loadTlsContext.name, () => {
  it('returns the texts of the files, for TLS 1.2 and newer', async () => {
    expect(await loadTlsContext({ cert: cert(), key: key() })).toEqual({
      cert: gate.cert,
      key: gate.key,
      minVersion: 'TLSv1.2',
    });
    expect(await loadTlsContext(null)).toBeNull();
  });

  it('ignores the byte order mark that editors on Windows add', async () => {
    const set = { cert: cert(`\uFEFF${gate.cert}`), key: key(`\uFEFF${gate.key}`) };
    const context = await loadTlsContext({ ...set, ca: ca(`\uFEFF${authority.cert}`) });
    expect(context).toMatchObject({ cert: gate.cert, key: gate.key, ca: authority.cert });
  });

  it('resumes no sessions where client certificates are verified', async () => {
    const context = await loadTlsContext({ cert: cert(), key: key(), ca: ca() });
    expect(context).toMatchObject({ ca: authority.cert, secureOptions: expect.any(Number) });
  });

  it.each([
    ['a missing certificate', { cert: absent('CERT_PATH'), key: key() }, 'CERT_PATH', 'ENOENT'],
    ['a missing key', { cert: cert(), key: absent('KEY_PATH') }, 'KEY_PATH', 'ENOENT'],
    ['an empty certificate', { cert: cert(''), key: key() }, 'CERT_PATH', ''],
    ['an empty key', { cert: cert(), key: key('') }, 'KEY_PATH', ''],
    ['a text that is no certificate', { cert: cert('nonsense'), key: key() }, 'CERT_PATH', 'PEM'],
    ['a key with a password', { cert: cert(), key: key(encrypted()) }, 'KEY_PATH', ''],
    [
      'the key of another certificate',
      { cert: cert(), key: key(other.key) },
      'KEY_PATH',
      'mismatch',
    ],
    ['no authorities', { cert: cert(), key: key(), ca: ca('') }, 'CA_PATH', ''],
  ])('refuses %s, and names its variable', async (_what, set, variable, words) => {
    const error = await loadTlsContext(set).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigurationError);
    const { problems, message } = error as ConfigurationError;
    expect(problems).toEqual([{ variable, message: expect.stringContaining(words) }]);
    expect(message).not.toMatch(/PRIVATE|file-|hush/);
  });
});

describe(pollTlsFiles.name, () => {
  it('returns valid changes only, and reports others once', async () => {
    const set = { cert: cert(), key: key() };
    const reasons: string[] = [];
    const polled = pollTlsFiles(set, (reason) => reasons.push(reason));
    await polled.load();
    expect(await polled.poll()).toBeNull();
    writeFileSync(set.cert.path, other.cert);
    expect([await polled.poll(), await polled.poll()]).toEqual([null, null]);
    expect(polled.hasUnusedChange).toBe(true);
    expect(reasons).toEqual([expect.stringContaining('KEY_PATH')]);
    writeFileSync(set.key.path, other.key);
    expect(await polled.poll()).toMatchObject({ cert: other.cert, key: other.key });
    expect(polled.hasUnusedChange).toBe(false);
  });
});
