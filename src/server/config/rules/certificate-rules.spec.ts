import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationError } from '../environment/configuration-error.js';
import { resolveSettings } from '../resolve-settings.js';

const PREFIX = 'SERVICE_FEATURE_AUTH_MTLS__';
const directory = mkdtempSync(join(tmpdir(), 'gatehouse-rules-'));
const path = join(directory, 'rules.json');

function resolve(text: string, more: Readonly<Record<string, string>> = {}) {
  writeFileSync(path, text);
  return resolveSettings({ [`${PREFIX}RULES_PATH`]: path, ...more }).settings.mtls;
}

function problemsOf(text: string, more: Readonly<Record<string, string>> = {}): string[] {
  try {
    resolve(text, more);
  } catch (error) {
    const { problems } = error as ConfigurationError;
    return problems.map(({ variable, message }) => `${variable.replace(PREFIX, '')} ${message}`);
  }
  return [];
}

describe('the file of certificate rules', () => {
  it('replaces the variables', () => {
    const text = '{"allowedIssuers":["CN=Acme, O=Acme"],"allowedEmailDomains":["Corp.Example"]}';
    expect(resolve(text)).toMatchObject({
      allowedIssuers: ['CN=Acme, O=Acme'],
      allowedEmailDomains: ['corp.example'],
    });
  });

  it.each([
    ['', 'not valid JSON'],
    ['[]', 'must be an object'],
    ['{"allowedIssuers":[]}', 'allowedEmailDomains is missing'],
    ['{"allowedEmailDomains":[]}', 'allowedIssuers is missing'],
    ['{"allowedIssuers":[],"allowedEmailDomains":["a@b"]}', 'domains without @'],
    [
      '{"allowedIssuers":["Corp"],"allowedEmailDomains":[],"allowedIssuers":[]}',
      'names a file that has the field allowedIssuers twice.',
    ],
    ['{"allowedIssuers":[],"allowedEmailDomains":["*.a.b"]}', 'domains without @ or *'],
    ['{"allowedIssuers":["CN=a,,"],"allowedEmailDomains":[]}', 'RFC 4514'],
    [
      '{"allowedIssuers":[""],"allowedEmailDomains":[]}',
      'allowedIssuers must be an array of texts',
    ],
    ['{"allowedIssuers":[],"allowedEmailDomains":[],"allowIssuers":[]}', 'did you mean'],
  ])('refuses: %s', (text, words) => {
    expect(problemsOf(text)).toEqual([expect.stringContaining(words)]);
  });

  const none = '{"allowedIssuers":[],"allowedEmailDomains":[]}';
  it('excludes the variables, and a source without domains', () => {
    expect(problemsOf(none, { [`${PREFIX}ALLOWED_ISSUERS`]: 'Acme' })).toEqual([
      expect.stringMatching(/^ALLOWED_ISSUERS and .*RULES_PATH are both set/),
    ]);
    const domains = '{"allowedIssuers":[],"allowedEmailDomains":["corp.example"]}';
    expect(problemsOf(domains, { [`${PREFIX}IDENTITY_SOURCE`]: 'fingerprint' })).toEqual([
      expect.stringMatching(/^RULES_PATH allowedEmailDomains has no effect/),
    ]);
    expect(problemsOf(none, { [`${PREFIX}RULES_PATH`]: join(directory, 'gone') })).toEqual([
      'RULES_PATH names a file that does not exist.',
    ]);
  });
});
