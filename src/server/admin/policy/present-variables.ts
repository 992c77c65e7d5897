import { readEnvironment } from '../../config/config.module.js';
import { ConfigurationReport } from '../../config/environment/configuration-error.js';
import type { VariableGroup } from '../../config/environment/variable.js';
import type { OidcProviderSettings } from '../../config/providers-file/provider-settings.js';
import { gatherTexts } from '../../config/read-environment.js';
import { VARIABLE_NAMES, variableOf, type VariableName } from '../../config/settings.js';
import { mayBePlanned, proposedSettings, PROVIDERS_TEXT } from './proposed-settings.js';

/** Variables of other groups change neither who has access nor a sentence of the policy. */
const GROUPS: readonly VariableGroup[] = [
  'Identity providers',
  'GitHub',
  'Sign-up and login',
  'Offboarding',
  'Keyless accounts',
  'Client certificates (mTLS)',
  'Encryption',
];

/** Returns the values that a plan starts from, read again as a plan reads them. */
export function presentVariables() {
  const texts = gatherTexts(readEnvironment(), new ConfigurationReport());
  const { providers, mtls } = proposedSettings({});
  const oidc = providers.filter((one) => one.type === 'oidc');
  // A file may have replaced these.
  const read: { readonly [Name in VariableName]?: string } = {
    [PROVIDERS_TEXT]: oidc.length === 0 ? '' : JSON.stringify(oidc.map(entryOf), null, 2),
    SERVICE_FEATURE_AUTH_MTLS__ALLOWED_ISSUERS: mtls.allowedIssuers.join(','),
    SERVICE_FEATURE_AUTH_MTLS__ALLOWED_EMAIL_DOMAINS: mtls.allowedEmailDomains.join(','),
  };
  return GROUPS.flatMap((group) =>
    VARIABLE_NAMES.filter((name) => variableOf(name).group === group && mayBePlanned(name)),
  ).map((name) => {
    const given = read[name] ?? texts.get(name);
    const isSet = given !== undefined && given !== '';
    return { name, value: isSet ? given : (variableOf(name).default?.toString() ?? ''), isSet };
  });
}

/** The fields that a plan judges by. Credentials and names of files are left out. */
function entryOf(provider: OidcProviderSettings): object {
  const { id, type, displayName, issuer, clientId, redirectUrl, scopes } = provider;
  const { claims, allow, emailVerification, storeRefreshToken, entra, scim } = provider;
  const client = { id, type, displayName, issuer, clientId, scopes };
  const rules = { claims, allow, emailVerification, storeRefreshToken };
  const directory = scim === null ? undefined : { match: scim.match, required: scim.required };
  return {
    ...client,
    redirectUrl: redirectUrl ?? undefined,
    ...rules,
    entra: entra.graph ? { graph: true } : undefined,
    signals: directory && { scim: directory },
  };
}
