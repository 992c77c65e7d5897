import { parseDistinguishedName } from '../policy/client-certificate-name.js';
import type { ConfigurationReport } from './configuration-error.js';
import type { VariableName, Values } from './env.js';

const CA_PATH = 'SERVICE_FEATURE_AUTH_MTLS__CA_PATH';
const ISSUERS = 'SERVICE_FEATURE_AUTH_MTLS__ALLOWED_ISSUERS';

/** Checks that a configuration with client certificates on is complete enough to start. */
export function checkMtls(
  values: Values,
  texts: ReadonlyMap<string, string>,
  report: ConfigurationReport,
): void {
  checkIssuers(texts.get(ISSUERS) ?? '', values, report);
  checkReturnPrefixes(values, report);
  if (!values.SERVICE_FEATURE_AUTH_MTLS__ENABLED) {
    return;
  }
  if (values.SERVICE_FEATURE_AUTH_MTLS__MODE === 'direct') {
    checkDirect(values, report);
  } else {
    checkForwarded(values, report);
  }
}

function checkForwarded(values: Values, report: ConfigurationReport): void {
  const preset = values.SERVICE_FEATURE_AUTH_MTLS__FORWARDED_PRESET;
  if (preset === 'aws-alb-passthrough') {
    needed(CA_PATH, values, report, 'the load balancer verifies nothing in pass-through mode');
  }
  if (preset === 'custom') {
    const header = 'SERVICE_FEATURE_AUTH_MTLS__CUSTOM_CERTIFICATE_HEADER';
    needed(header, values, report, 'the preset custom reads the header that you name');
  }
  const verify = 'SERVICE_FEATURE_AUTH_MTLS__VERIFY_FORWARDED';
  if (values[verify]) {
    needed(CA_PATH, values, report, 'forwarded certificates are to be verified');
    if (preset === 'plain' && !report.has(verify)) {
      report.problem(verify, 'needs a preset that forwards the certificate itself.');
    }
  }
}

function checkDirect(values: Values, report: ConfigurationReport): void {
  const port = 'SERVICE_FEATURE_AUTH_MTLS__TLS_PORT';
  const names: VariableName[] = [
    port,
    'SERVICE_FEATURE_AUTH_MTLS__TLS_CERT_PATH',
    'SERVICE_FEATURE_AUTH_MTLS__TLS_KEY_PATH',
    CA_PATH,
  ];
  for (const name of names) {
    needed(name, values, report, 'this server verifies the certificates itself in mode direct');
  }
  if (values[port] !== null && values[port] !== 0 && values[port] === values.PORT) {
    report.problem(port, 'must not be the same as PORT.');
  }
}

/**
 * A distinguished name without quotes would be split at its commas, and its common name alone would
 * then let in issuers of other organisations.
 */
function checkIssuers(text: string, values: Values, report: ConfigurationReport): void {
  const unquoted = text.replace(/"[^"]*"/g, '');
  if (/,\s*[A-Za-z][A-Za-z0-9.]*\s*=/.test(unquoted) && !report.has(ISSUERS)) {
    report.problem(
      ISSUERS,
      'must have each distinguished name in double quotes, as it has commas.',
    );
  }
  const isUnreadable = (issuer: string): boolean =>
    issuer.includes('=') && parseDistinguishedName(issuer) === null;
  if (values[ISSUERS].some(isUnreadable) && !report.has(ISSUERS)) {
    report.problem(ISSUERS, 'must have names such as "CN=Acme Issuing CA,O=Acme,C=CZ" (RFC 4514).');
  }
}

/** Prefixes are compared by origin and path, so they must have one and nothing that runs code. */
function checkReturnPrefixes(values: Values, report: ConfigurationReport): void {
  const name = 'SERVICE_FEATURE_AUTH_MTLS__RETURN_TO_ALLOW_PREFIXES';
  const unsafe = values[name].some(
    (prefix) => !URL.canParse(prefix) || /^(javascript|data|file|vbscript|blob):/i.test(prefix),
  );
  if (unsafe) {
    report.problem(name, 'must have full addresses whose scheme runs no code and reads no file.');
  }
}

function needed(
  name: VariableName,
  values: Values,
  report: ConfigurationReport,
  why: string,
): void {
  if (values[name] === null && !report.has(name)) {
    report.problem(name, `is missing: ${why}.`);
  }
}
