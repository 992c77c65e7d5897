import {
  commonNamesOf,
  isSameName,
  parseDistinguishedName,
  CLIENT_AUTHENTICATION,
  judgeClientCertificate,
  type CertificateFacts,
  type CertificateRules,
} from './client-certificate.js';
import { allowedReturnTo } from '../flow/return-address.js';

const NOW = Date.UTC(2026, 0, 2);
const DAY = 86_400_000;

const facts: CertificateFacts = {
  emails: ['Alice@Corp.Example'],
  upns: ['alice@corp.example'],
  commonNames: ['Alice Novák'],
  fingerprint: 'ab'.repeat(32),
  issuer: parseDistinguishedName('C=CZ,O=Acme\\, s.r.o.,CN=Acme Issuing CA'),
  validity: { notBefore: NOW - DAY, notAfter: NOW + DAY },
  usages: [CLIENT_AUTHENTICATION],
};

const rules: CertificateRules = {
  identitySource: 'san_email',
  allowedEmailDomains: [],
  allowedIssuers: [],
};

function judge(changed: Partial<CertificateFacts>, ruled: Partial<CertificateRules> = {}): unknown {
  const verdict = judgeClientCertificate({ ...facts, ...changed }, { ...rules, ...ruled }, NOW);
  return verdict.isAllowed ? verdict.subject : verdict.reason;
}

describe(judgeClientCertificate.name, () => {
  it.each([
    ['san_email', 'san_email:Alice@corp.example'],
    ['san_upn', 'san_upn:alice@corp.example'],
    ['subject_cn', 'subject_cn:Alice Novák'],
    ['fingerprint', `fingerprint:${'ab'.repeat(32)}`],
  ] as const)('identifies the person by %s', (identitySource, subject) => {
    expect(judge({}, { identitySource })).toBe(subject);
  });

  it.each([
    ['no-identity', []],
    ['empty-identity', ['']],
    ['empty-identity', ['  ']],
    ['control-characters', ['root@corp.example\0.evil.example']],
    ['control-characters', ['a@corp.example\n']],
    ['wildcard-identity', ['*@corp.example']],
    ['malformed-identity', ['corp.example']],
    ['malformed-identity', ['a@b@corp.example']],
    ['malformed-identity', ['"a b"@corp.example']],
    ['malformed-identity', ['a@corp.example, email:root@corp.example']],
    ['malformed-identity', ['a@']],
    ['malformed-identity', ['a@-corp.example']],
    ['malformed-identity', ['a@corp..example']],
    ['malformed-identity', ['a@corp.example.']],
    ['malformed-identity', [`${'a'.repeat(65)}@corp.example`]],
    ['ambiguous-identity', ['a@corp.example', 'b@corp.example']],
    ['control-characters', ['a@corp.example', 'b\u0000@x.example']],
  ] as const)('refuses with %s: %j', (reason, emails) => {
    expect(judge({ emails })).toBe(reason);
    expect(judge({ upns: emails }, { identitySource: 'san_upn' })).toBe(reason);
  });

  it('accepts an address of 320 characters, and none longer', () => {
    const address = (length: number): string => `a@${'b'.repeat(length - 2)}`;
    expect(judge({ emails: [address(320)] })).toBe(`san_email:${address(320)}`);
    expect(judge({ emails: [address(321)] })).toBe('malformed-identity');
  });

  it('keeps the case of a common name', () => {
    const commonNames = ['Alice@Corp.Example'];
    expect(judge({ commonNames }, { identitySource: 'subject_cn' })).toBe(
      'subject_cn:Alice@Corp.Example',
    );
  });

  it.each([
    [null, 'no-identity'],
    [`0${'ab'.repeat(32)}`, 'malformed-identity'],
    [`${'ab'.repeat(32)}0`, 'malformed-identity'],
    ['AB'.repeat(32), 'malformed-identity'],
  ])('refuses the fingerprint %j: %s', (fingerprint, reason) => {
    expect(judge({ fingerprint }, { identitySource: 'fingerprint' })).toBe(reason);
  });

  it('treats two spellings of one address as one', () => {
    expect(judge({ emails: ['a@corp.example', 'a@CORP.example'] })).toBe(
      'san_email:a@corp.example',
    );
    expect(judge({ emails: ['a@corp.example', 'A@corp.example'] })).toBe('ambiguous-identity');
  });

  it('selects one of two addresses by the domain list, whole domains only', () => {
    const emails = ['a@corp.example', 'a@private.example'];
    expect(judge({ emails }, { allowedEmailDomains: ['corp.example'] })).toBe(
      'san_email:a@corp.example',
    );
    const both = ['corp.example', 'private.example'];
    expect(judge({ emails }, { allowedEmailDomains: both })).toBe('ambiguous-identity');
    const written = { allowedEmailDomains: ['exämple.com'] };
    expect(judge({ emails: ['a@xn--exmple-cua.com'] }, written)).toBe(
      'san_email:a@xn--exmple-cua.com',
    );
    for (const other of ['sub.corp.example', 'notcorp.example', 'corp.example.evil.example']) {
      expect(judge({ emails: [`a@${other}`] }, { allowedEmailDomains: ['corp.example'] })).toBe(
        'domain-not-allowed',
      );
    }
  });

  it.each([
    ['expired', { validity: { notBefore: 0, notAfter: NOW - 1 } }],
    ['not-yet-valid', { validity: { notBefore: NOW + 1, notAfter: NOW + DAY } }],
    ['wrong-usage', { usages: ['1.3.6.1.5.5.7.3.1'] }],
    ['wrong-usage', { usages: [] }],
  ] as const)('refuses a certificate that is %s', (reason, changed) => {
    expect(judge(changed)).toBe(reason);
  });

  it('accepts a certificate in the first and the last millisecond of its validity', () => {
    const validity = { notBefore: NOW, notAfter: NOW };
    expect(judge({ validity })).toBe('san_email:Alice@corp.example');
  });

  it('accepts a certificate without usages for any use', () => {
    expect(judge({ usages: null })).toBe('san_email:Alice@corp.example');
  });

  it.each([
    ['Acme Issuing CA', true],
    ['CN=Acme Issuing CA,O=Acme\\, s.r.o.,C=CZ', true],
    ['C = CZ, O = Acme\\, s.r.o., CN = Acme Issuing CA', true],
    ['acme issuing ca', false],
    ['Acme', false],
    ['CN=Acme Issuing CA', false],
    ['CN=Acme Issuing CA,O=Acme\\, s.r.o.,C=SK', false],
    ['O=Acme Issuing CA', false],
    ['CN=Acme;', false],
  ])('compares the issuer with %j: %s', (allowed, isAllowed) => {
    const verdict = judge({}, { allowedIssuers: ['Other', allowed] });
    expect(verdict).toBe(isAllowed ? 'san_email:Alice@corp.example' : 'issuer-not-allowed');
  });

  it('refuses an issuer with two common names, or none forwarded, where a list requires one', () => {
    const issuer = parseDistinguishedName('CN=Acme Issuing CA,CN=Evil');
    expect(judge({ issuer }, { allowedIssuers: ['Acme Issuing CA'] })).toBe('issuer-not-allowed');
    expect(judge({ issuer: null }, { allowedIssuers: ['Acme Issuing CA'] })).toBe(
      'issuer-not-allowed',
    );
  });

  it.each([
    [['a', 'b'], 'ambiguous-identity'],
    [['*.corp.example'], 'wildcard-identity'],
    [['ad\u202emin'], 'control-characters'],
    [[' admin'], 'malformed-identity'],
    [['admin '], 'malformed-identity'],
  ])('refuses the common names %j: %s', (commonNames, reason) => {
    expect(judge({ commonNames }, { identitySource: 'subject_cn' })).toBe(reason);
  });
});

describe(parseDistinguishedName.name, () => {
  it('reads escapes, bytes, object identifiers and sets of attributes', () => {
    const name = parseDistinguishedName(
      'emailAddress=a@b.example,CN=Ji\\C5\\99\\C3\\AD Nov\\C3\\A1k\\; admin,2.5.4.11=IT \\+ Ops+O=Acme',
    );
    expect(name).toEqual([
      [{ type: '1.2.840.113549.1.9.1', value: 'a@b.example' }],
      [{ type: '2.5.4.3', value: 'Jiří Novák; admin' }],
      [
        { type: '2.5.4.11', value: 'IT + Ops' },
        { type: '2.5.4.10', value: 'Acme' },
      ],
    ]);
  });

  it.each([
    '',
    'Acme',
    '/C=CZ/CN=a',
    'CN',
    'CN=a;O=b',
    'CN=a,',
    'CN="a"',
    'CN=a\\',
    'CN=\\ff',
    'CN=\\ax',
    'CN2=a',
    'x-y=1',
  ])('refuses %j', (text) => {
    expect(parseDistinguishedName(text)).toBeNull();
  });

  it.each([
    ['CN=a  ,O=b', 'a'],
    ['CN=a  ', 'a'],
    ['CN=a\\ ', 'a '],
    ['CN=a\\   ', 'a '],
    ['CN=a b', 'a b'],
  ])('removes the spaces after a value, unless they are escaped: %j', (text, commonName) => {
    expect(commonNamesOf(parseDistinguishedName(text) ?? [])).toEqual([commonName]);
  });

  it('finds no second common name inside a value', () => {
    const name = parseDistinguishedName('CN=a\\,CN\\=admin,O=Acme');
    expect(commonNamesOf(name ?? [])).toEqual(['a,CN=admin']);
  });

  it('distinguishes names with the same attributes in other sets', () => {
    const [a, b] = ['CN=a+O=b', 'CN=a,O=b'].map((text) => parseDistinguishedName(text) ?? []);
    expect(isSameName(a ?? [], b ?? [])).toBe(false);
    expect(isSameName(a ?? [], a ?? [])).toBe(true);
    expect(isSameName(a ?? [], parseDistinguishedName('O=b+CN=a') ?? [])).toBe(true);
  });
});

describe(allowedReturnTo.name, () => {
  const prefixes = ['https://app.example/login', 'https://other.example', 'myapp://auth'];

  it.each([
    ['https://app.example/login', 'https://app.example/login'],
    ['https://app.example/login/', 'https://app.example/login/'],
    ['https://app.example/login/done?x=1', 'https://app.example/login/done?x=1'],
    ['HTTPS://APP.example:443/login', 'https://app.example/login'],
    ['https://other.example/anything', 'https://other.example/anything'],
    ['myapp://auth', 'myapp://auth'],
    ['myapp://auth/back', 'myapp://auth/back'],
  ])('allows %s', (address, href) => {
    expect(allowedReturnTo(address, prefixes)?.href).toBe(href);
  });

  it.each([
    'https://app.example/loginevil',
    'https://app.example/login/../admin',
    'https://app.example/login/%2e%2e/admin',
    'https://app.example/login/..%2fadmin',
    'https://app.example/login%5c..%5cadmin',
    'https://app.example.evil.example/login',
    'https://app.example@evil.example/login',
    'https://user:pass@app.example/login',
    'https://@app.example/login',
    'https://app.example\\@evil.example/login',
    'https:\\\\app.example/login',
    'https://app.example:8443/login',
    'http://app.example/login',
    '//app.example/login',
    '/login',
    'https://app.example/login#code=x',
    'https://app.example/login#',
    'https://app.example/lo\ngin',
    ' https://app.example/login',
    'https://evil.example/?https://app.example/login',
    'myapp://auth.evil',
    'myapp://authority/back',
    'myapp:auth',
    'javascript:alert(1)',
    'javascript://auth/%0aalert(1)',
    '',
  ])('refuses %j', (address) => {
    expect(allowedReturnTo(address, prefixes)).toBeNull();
  });

  it('allows nothing when nothing is listed', () => {
    expect(allowedReturnTo('https://app.example/login', [])).toBeNull();
  });
});
