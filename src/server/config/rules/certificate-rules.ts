import * as v from 'valibot';
import { parseJson } from '../../../common/parse-json.js';
import {
  parseDistinguishedName,
  type CertificateRules,
} from '../../../core/policy/certificate/client-certificate.js';
import type { ConfigurationReport } from '../environment/configuration-error.js';
import { readSmallFile } from '../environment/small-file.js';
import { object, repeatedField, texts } from '../providers-file/entry-schema.js';
import { readEntry } from '../providers-file/entries-file.js';

const PATH = 'SERVICE_FEATURE_AUTH_MTLS__RULES_PATH';
const DOMAINS = 'SERVICE_FEATURE_AUTH_MTLS__ALLOWED_EMAIL_DOMAINS';
const ISSUERS = 'SERVICE_FEATURE_AUTH_MTLS__ALLOWED_ISSUERS';
const SOURCE = 'SERVICE_FEATURE_AUTH_MTLS__IDENTITY_SOURCE';

export type CertificateAllowRules = Pick<
  CertificateRules,
  'allowedEmailDomains' | 'allowedIssuers'
>;

export interface CertificateRulesValues {
  readonly [PATH]: string | null;
  readonly [DOMAINS]: readonly string[];
  readonly [ISSUERS]: readonly string[];
  readonly [SOURCE]: string;
}

const isDomain = (domain: string): boolean => !/[\s@,*]/.test(domain);

/** The file of RULES_PATH. Both lists have to be there: one that got lost would allow everyone. */
const RULES = object({
  allowedIssuers: v.pipe(
    texts('Common names, or full names in the form of RFC 4514. Empty = any.'),
    v.check((issuers) => !issuers.some(isUnreadableIssuer), 'must have names as in RFC 4514.'),
  ),
  allowedEmailDomains: v.pipe(
    texts('Domains an e-mail or UPN identity may have. Empty = any.', (domain) =>
      domain.toLowerCase(),
    ),
    v.check((domains) => domains.every(isDomain), 'must be domains without @ or *.'),
  ),
});

const ANY: CertificateAllowRules = { allowedEmailDomains: [], allowedIssuers: [] };

export function readCertificateRules(
  values: CertificateRulesValues,
  report: ConfigurationReport,
): CertificateAllowRules {
  const path = values[PATH];
  const rules =
    path === null
      ? { allowedEmailDomains: values[DOMAINS], allowedIssuers: values[ISSUERS] }
      : readRulesFile(path, values, report);
  checkEmailDomains(path === null ? DOMAINS : PATH, rules, values, report);
  return rules;
}

function readRulesFile(
  path: string,
  values: CertificateRulesValues,
  report: ConfigurationReport,
): CertificateAllowRules {
  for (const name of [DOMAINS, ISSUERS] as const) {
    if (values[name].length > 0) {
      report.problem(name, `and ${PATH} are both set; keep one of them.`);
    }
  }
  const file = readSmallFile(path);
  const failure = 'failure' in file ? file.failure : null;
  const given = 'text' in file ? parseJson(file.text) : undefined;
  if (given === undefined) {
    report.problem(PATH, `names a file that ${failure ?? 'is not valid JSON'}.`);
    return ANY;
  }
  const repeated = 'text' in file ? repeatedField(file.text) : null;
  if (repeated !== null) {
    report.problem(PATH, `names a file that ${repeated}`);
    return ANY;
  }
  const problem = (field: string, message: string): void =>
    report.problem(PATH, field === '' ? message : `${field.slice(1)} ${message}`);
  const rules = readEntry(RULES, given, problem);
  // With a problem the fields may be missing.
  return rules === null || report.has(PATH) ? ANY : rules;
}

/** A list that is set and not applied would leave the operator believing in a restriction. */
function checkEmailDomains(
  name: typeof PATH | typeof DOMAINS,
  { allowedEmailDomains }: CertificateAllowRules,
  values: CertificateRulesValues,
  report: ConfigurationReport,
): void {
  const source = values[SOURCE];
  const hasDomain = source === 'san_email' || source === 'san_upn';
  if (allowedEmailDomains.length > 0 && !hasDomain && !report.has(name)) {
    const subject = name === PATH ? 'allowedEmailDomains has' : 'has';
    report.problem(
      name,
      `${subject} no effect while ${SOURCE} is ${source}, which has no domain: use san_email or san_upn, or remove it.`,
    );
  }
}

/** Returns true if it is a distinguished name, and could be read in two ways. */
export function isUnreadableIssuer(issuer: string): boolean {
  return issuer.includes('=') && parseDistinguishedName(issuer) === null;
}
