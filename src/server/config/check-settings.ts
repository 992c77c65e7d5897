import { checkAdmin } from './admin.config.js';
import { checkLoginOrigins } from './auth.config.js';
import { checkBrand } from './brand.config.js';
import { checkReturnAddress } from './browser.config.js';
import type { ConfigurationReport } from './environment/configuration-error.js';
import { checkHttp } from './http.config.js';
import { checkMetrics } from './metrics.config.js';
import { RESERVED_PROVIDER_IDS } from './providers-file/provider-entry.js';
import type { ProviderSettings } from './providers-file/provider-settings.js';
import { isUnreadableIssuer } from './rules/certificate-rules.js';
import { checkRules } from './rules/variable-rules.js';
import type { Values, VariableName } from './settings.js';
import { checkStorage } from './storage.config.js';

/** Runs the checks that need several variables. Each skips variables with a reported problem. */
export function checkSettings(
  values: Values,
  texts: ReadonlyMap<string, string>,
  providers: readonly ProviderSettings[],
  report: ConfigurationReport,
): void {
  checkRules(values, report);
  checkStorage(values, report);
  checkHttp(values, report);
  checkLoginOrigins(values, report);
  checkProviderLists(values, report);
  checkReturnAddress(values, providers, report);
  checkMetrics(values, report);
  checkBrand(values, report);
  checkMtls(values, texts, report);
  checkAdmin(values, providers, report);
}

/** `mtls` can be required, but it is not an OAuth provider and cannot be in the other lists. */
function checkProviderLists(values: Values, report: ConfigurationReport): void {
  const lists: [VariableName, readonly string[], readonly string[]][] = [
    ['AUTH_SIGNUP_PROVIDERS', values.AUTH_SIGNUP_PROVIDERS, RESERVED_PROVIDER_IDS],
    [
      'SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS',
      values.SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS,
      RESERVED_PROVIDER_IDS,
    ],
    [
      'AUTH_REQUIRED_LOGIN_PROVIDERS',
      values.AUTH_REQUIRED_LOGIN_PROVIDERS,
      RESERVED_PROVIDER_IDS.filter((id) => id !== 'mtls'),
    ],
  ];
  for (const [name, ids, refused] of lists) {
    const wrong = refused.filter((id) => ids.includes(id));
    if (wrong.length > 0) {
      report.problem(name, `must not name ${wrong.join(', ')}, which is not an identity provider.`);
    }
  }
}

const CA_PATH = 'SERVICE_FEATURE_AUTH_MTLS__CA_PATH';
const CRL_URLS = 'SERVICE_FEATURE_AUTH_MTLS__CRL_URLS';
const ISSUERS = 'SERVICE_FEATURE_AUTH_MTLS__ALLOWED_ISSUERS';

function checkMtls(
  values: Values,
  texts: ReadonlyMap<string, string>,
  report: ConfigurationReport,
): void {
  checkIssuers(texts.get(ISSUERS) ?? '', values, report);
  checkReturnPrefixes(values, report);
  const isUnsigned = values[CRL_URLS].some((url) => url.startsWith('http:'));
  if (values.SERVICE_FEATURE_AUTH_MTLS__ENABLED && isUnsigned && values[CA_PATH] === null) {
    report.problemOnce(
      CA_PATH,
      'is missing: a list fetched over http has to be signed by an authority.',
    );
  }
}

/** Without quotes a name is split at its commas, and its common name would allow other issuers. */
function checkIssuers(text: string, values: Values, report: ConfigurationReport): void {
  const unquoted = text.replace(/"[^"]*"/g, '');
  if (/,\s*[A-Za-z][A-Za-z0-9.]*\s*=/.test(unquoted)) {
    const advice = 'must have each distinguished name in double quotes, as it has commas.';
    report.problemOnce(ISSUERS, advice);
  }
  if (values[ISSUERS].some(isUnreadableIssuer)) {
    const example = '"CN=Acme Issuing CA,O=Acme,C=CZ" (RFC 4514)';
    report.problemOnce(ISSUERS, `must have names such as ${example}.`);
  }
}

/** Prefixes are compared by origin and path. Schemes that run code are refused. */
function checkReturnPrefixes(values: Values, report: ConfigurationReport): void {
  const name = 'SERVICE_FEATURE_AUTH_MTLS__RETURN_TO_ALLOW_PREFIXES';
  const unsafe = values[name].some(
    (prefix) => !URL.canParse(prefix) || /^(javascript|data|file|vbscript|blob):/i.test(prefix),
  );
  if (unsafe) {
    report.problem(name, 'must have full addresses whose scheme runs no code and reads no file.');
  }
}
