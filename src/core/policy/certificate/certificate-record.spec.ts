import { endOf, judgeRecord, type CertificateRecord } from './certificate-record.js';
import { CLIENT_AUTHENTICATION, COMMON_NAME, type CertificateRules } from './client-certificate.js';

const NOW = 1_700_000_000_000;
const RULES: CertificateRules = {
  identitySource: 'san_email',
  allowedEmailDomains: ['corp.example'],
  allowedIssuers: ['Acme CA'],
};
const SUBJECT = 'san_email:alice@corp.example';
const RECORD: CertificateRecord = {
  facts: {
    emails: ['alice@corp.example', 'alice@old.example'],
    upns: ['alice@ad.example'],
    commonNames: ['Alice'],
    fingerprint: 'a'.repeat(64),
    issuer: [[{ type: COMMON_NAME, value: 'Acme CA' }]],
    validity: { notBefore: NOW - 1000, notAfter: NOW + 1000 },
    usages: [CLIENT_AUTHENTICATION],
  },
  reference: null,
};

describe(judgeRecord, () => {
  it('confirms an identity that its certificate still names', () => {
    expect(judgeRecord(RECORD, SUBJECT, RULES, NOW + 1000)).toEqual({ kind: 'eligible' });
  });

  it.each<[reason: string, rules: Partial<CertificateRules>, now: number]>([
    ['expired', {}, NOW + 1001],
    ['not_yet_valid', {}, NOW - 1001],
    ['issuer_not_allowed', { allowedIssuers: ['Other CA'] }, NOW],
    ['domain_not_allowed', { allowedEmailDomains: ['new.example'] }, NOW],
    ['ambiguous_identity', { allowedEmailDomains: [] }, NOW],
    ['names_another_identity', { allowedEmailDomains: ['old.example'] }, NOW],
    ['names_another_identity', { identitySource: 'subject_cn', allowedEmailDomains: [] }, NOW],
  ])('refuses an identity: %s', (reason, rules, now) => {
    const verdict = judgeRecord(RECORD, SUBJECT, { ...RULES, ...rules }, now);
    expect(verdict).toEqual({ kind: 'ineligible', reason });
  });

  it('refuses by the subject only, and never allows, where no certificate is stored', () => {
    const judge = (rules: Partial<CertificateRules>) =>
      judgeRecord(null, SUBJECT, { ...RULES, ...rules }, NOW);
    expect(judge({})).toEqual({ kind: 'unknown', reason: 'certificate_not_seen' });
    const rules = { ...RULES, identitySource: 'fingerprint', allowedEmailDomains: [] } as const;
    expect(judgeRecord(null, `fingerprint:${'a'.repeat(64)}`, rules, NOW)).toEqual({
      ...{ kind: 'unknown', reason: 'certificate_not_seen' },
    });
    expect(judge({ allowedEmailDomains: ['new.example'] })).toEqual({
      kind: 'ineligible',
      reason: 'domain_not_allowed',
    });
    expect(judge({ identitySource: 'san_upn', allowedEmailDomains: [] })).toEqual({
      kind: 'ineligible',
      reason: 'names_another_identity',
    });
  });
});

describe(endOf, () => {
  it('returns the end of the validity, where it is known', () => {
    expect(endOf(RECORD)).toBe(NOW + 1000);
    expect(endOf({ ...RECORD, facts: { ...RECORD.facts, validity: null } })).toBeNull();
    expect(endOf(null)).toBeNull();
  });
});
