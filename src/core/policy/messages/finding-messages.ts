import type { MessageTable } from './statement.js';

interface OfProvider {
  readonly provider: string;
}

interface OfResourceServer extends OfProvider {
  readonly resourceServer: string;
}

interface OfBackend {
  readonly backend: string;
}

interface OfVariable {
  readonly variable: string;
}

const STORAGE_POLICY = 'SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY';
const UPGRADE = 'Bring all clients up to date first (docs/upgrade.md); until then';
const NEW_SECRET = 'Create a new one at the provider.';

/** Findings name providers by their ids, because they name the variables that have them. */
export const FINDING_MESSAGES = {
  'required-provider-not-configured': ({ provider }: OfProvider) =>
    `AUTH_REQUIRED_LOGIN_PROVIDERS names ${provider}, which is not configured: every account is refused until it is.`,
  'no-login-method': () =>
    'No way to sign in is left: device keys, keyless providers and certificates are all off or incomplete.',
  'keyless-provider-not-configured': ({ provider }: OfProvider) =>
    `SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS names ${provider}, which is not configured: no user can sign in through it.`,
  'keyless-accounts-need-plaintext': () =>
    'Keyless accounts are on, but SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY is required_e2ee: they stay off. Use optional or plaintext_only.',
  'keyless-login-without-accounts': () =>
    'Keyless OAuth sign-in is on, but SERVICE_FEATURE_E2EE__KEYLESS_ACCOUNTS_ENABLED is off: no user can sign in that way.',
  'plaintext-only-without-keyless': () =>
    'The storage policy is plaintext_only and keyless accounts are off: only keyed accounts can sign in, and what they encrypt is refused.',
  'mtls-without-keyless': () =>
    'Sign-in with certificates is on, but it needs keyless accounts and a storage policy other than required_e2ee. (Where AUTH_REQUIRED_LOGIN_PROVIDERS names mtls, accounts with device keys connect one.)',
  'mtls-unreachable': () =>
    'Forwarded certificates are on, but no proxy is trusted to forward them: set SERVICE_FEATURE_AUTH_MTLS__TRUST_FORWARDED_HEADERS and SERVICE_FEATURE_AUTH_MTLS__TRUSTED_PROXIES.',
  'signup-provider-not-configured': ({ provider }: OfProvider) =>
    `AUTH_SIGNUP_PROVIDERS names ${provider}, which is not configured: no user can sign up through it.`,
  'oauth-not-configured': ({ provider }: OfProvider) =>
    `${provider} is configured, but its callback at this server or the address that browsers return to is not known: no user can sign in or connect through it. Set SERVICE_PUBLIC_URL; or its redirect address, with SERVICE_WEBAPP_URL or SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE.`,
  'resource-server-admits-no-account': ({ backend }: OfBackend) =>
    `The backend ${backend} admits no account: allowKeyless is false in its entry, and accounts with a device key cannot sign in here. Set AUTH_KEY_CHALLENGE_ENABLED, or allowKeyless.`,
  'trusts-every-peer': () =>
    'A list of trusted proxies holds every address: anyone who reaches the server directly can forge what a proxy says.',

  'no-signup-method': ({ variable }: OfVariable) =>
    `No account can be created: ${variable} refuses new device keys, and no provider or certificate may create an account.`,
  'keyless-oauth-without-providers': () =>
    'Keyless OAuth sign-in is on, but SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS is empty: an empty list allows no provider.',
  'answers-without-keys': () =>
    'SERVICE_FEATURE_ANSWERS__ENABLED is on, but no account can have a key: people can deny requests of their programs, and never allow one. Leave it empty, or offer device keys and encrypted content.',
  'signup-provider-on-plaintext-only': () =>
    'AUTH_SIGNUP_PROVIDERS creates keyed accounts, which a plaintext_only server does not offer: use keyless auto-provisioning.',
  'client-challenges-accepted': () =>
    'AUTH_REQUIRE_SERVER_CHALLENGE is false: a sign-in with a challenge that the client made never expires: a captured one can be sent again and again, each time for a new token. Set it to true once all clients ask /v1/auth/challenge (servers first, then clients, then true).',
  'login-origin-unknown': () =>
    'Neither SERVICE_PUBLIC_URL nor SERVICE_LOGIN_ORIGINS is set: clients that reach this server by a name or at a public address refuse its challenges, and can neither sign up nor sign in with a device key. Set SERVICE_PUBLIC_URL to the address that they use.',
  'public-url-without-tls': () =>
    'SERVICE_PUBLIC_URL starts with http://, but SERVICE_TLS_CERT_PATH makes PORT serve HTTPS only: clients and browsers that use that address get no answer, unless a proxy listens there. Use https://.',
  'anonymous-signup-on-public-server': () =>
    'SERVICE_PUBLIC_URL looks public and anonymous sign-up is on: anyone on the internet can create an account.',
  'any-program-on-public-server': ({ backend }: OfBackend) =>
    `${backend} accepts any program with a metadata document, and SERVICE_PUBLIC_URL looks public: anyone can publish a program and ask people for access. List the programs in clients, or leave "known".`,
  'program-scope-without-text': ({ backend, scope }: OfBackend & { readonly scope: string }) =>
    `The scope ${scope} of ${backend} has no text but its id: people who grant it do not read what it allows.`,
  'anonymous-signup-with-required-provider': () =>
    'Anonymous sign-up is on although a provider is required: anyone can create accounts, which are of no use until the provider is connected.',
  'invitations-with-anonymous-signup': () =>
    'AUTH_SIGNUP_INVITATIONS_ENABLED is on, but anonymous sign-up is on as well: a new device key needs no invitation. Set AUTH_ANONYMOUS_SIGNUP_ENABLED=false.',
  'invitations-refused': ({ variable }: OfVariable) =>
    `AUTH_SIGNUP_INVITATIONS_ENABLED is on, but ${variable} refuses new device keys: no invitation can be used.`,
  'required-provider-unrestricted': ({ provider }: OfProvider) =>
    `${provider} is required but has no allowlist: anyone with an identity there is eligible.`,
  'resource-server-provider-unrestricted': ({ provider, resourceServer }: OfResourceServer) =>
    `${resourceServer} requires ${provider}, which has no allowlist: anyone with an identity there gets its tokens.`,
  'offboarding-without-allowlists': () =>
    'Offboarding is on, but no provider has an allowlist: only identities that disappear lose access.',
  'allowlists-without-offboarding': () =>
    'A provider has an allowlist, but offboarding is off: a person removed from it keeps access.',
  'allowlist-not-checked-again': ({ provider }: OfProvider) =>
    `${provider} has an allowlist and stores no refresh token: it is not checked again without the person. Where it decides about access, a sign-in there counts for AUTH_OFFBOARDING_INTERVAL_SECONDS, then the person has to sign in again (provider-required). Leave storeRefreshToken out, or set it to true.`,
  'refresh-token-scope-missing': ({ provider }: OfProvider) =>
    `${provider} has an allowlist and is not asked for the scope offline_access: most providers give a refresh token for it only. Where it gives none and decides about access, people have to sign in there again after each AUTH_OFFBOARDING_INTERVAL_SECONDS. The command "gatehouse doctor providers" shows what it lists.`,
  'graph-scope-missing': ({ provider }: OfProvider) =>
    `${provider} reads groups from Microsoft Graph, but its scopes name none of its permissions: people whose groups do not fit into the token cannot sign in, and re-checks of them are unknown. Add GroupMember.Read.All, with the consent of an administrator.`,
  'github-app-id-missing': () =>
    'GITHUB_CLIENT_ID is of a GitHub App, but memberships are read with the tokens of people: those do not show that a person was removed from an organisation, so a removed member stays eligible. Set AUTH_GITHUB_APP_ID and AUTH_GITHUB_APP_PRIVATE_KEY, and leave AUTH_GITHUB_ORG_MEMBERSHIP_SOURCE out.',
  'certificates-not-checked-again': () =>
    'Certificates sign people in, but AUTH_OFFBOARDING_ENABLED is false: one that is revoked keeps access until its tokens end.',
  'keyless-without-offboarding': ({ providers }: { readonly providers: readonly string[] }) =>
    `Accounts without device keys sign in through ${providers.join(', ')}, but offboarding is off: their identities are never checked again, so a person who leaves keeps access until the next sign-in there. Set AUTH_OFFBOARDING_ENABLED.`,
  'keyless-not-checked-again': ({ provider }: OfProvider) =>
    `${provider} opens accounts without device keys and stores no refresh token: a sign-in there counts for AUTH_OFFBOARDING_INTERVAL_SECONDS, then the person has to sign in again (provider-required). Set storeRefreshToken.`,
  'allowlist-entry-can-be-chosen': ({ provider, entries, claim }: ChoosableEntries) =>
    `allow.usersAllowlist of ${provider} has ${quoted(entries)}, which the claim ${claim} can match: at many providers people choose it themselves. Write sub:<subject> or email:<address>, or login:<name> where only an administrator can set it.`,
  'directory-name-can-be-chosen': ({ provider, claim }: OfProvider & { readonly claim: string }) =>
    `signals.scim.match of ${provider} is userName, which the claim ${claim} has to equal: at many providers people choose it themselves, so that a leaver can avoid the match, or take the name of another person. Match by externalId or oid where the directory sends the id of the person, or name in claims.login a claim that only an administrator can set.`,
  'email-rule-never-met': ({ provider, isAskedForEmail }: UnmetEmailRule) =>
    isAskedForEmail
      ? `${provider} has a rule about e-mail addresses, which no person can meet: email_verified vouches for the claim email only, and claims.email names another one. Set emailVerification to trustedIssuer if only an administrator can set that claim.`
      : 'AUTH_GITHUB_ALLOWED_USERS has an e-mail address, which no person can match: GitHub is asked for none. Write the login or sub:<numeric id>.',
  'opt-out-without-optional-policy': () =>
    'SERVICE_FEATURE_ENCRYPTION__ALLOW_ACCOUNT_OPTOUT has an effect only with the storage policy optional.',
  'auto-redirect-target-unavailable': ({ provider }: OfProvider) =>
    `The automatic redirect goes to ${provider}, which is not available for signing in: clients show the choice instead.`,

  'older-clients-on-plaintext-only': () =>
    `The storage policy is plaintext_only: older clients fail when what they encrypt is refused. ${UPGRADE} set ${STORAGE_POLICY}=optional.`,
  'older-clients-on-plain-accounts': () =>
    `The storage policy is optional and accounts can be plain: older clients read their settings at /v1/account/settings and are refused with plain-account-requires-settings-v2. ${UPGRADE} set ${STORAGE_POLICY}=required_e2ee.`,
  'older-clients-on-keyless-provisioning': () =>
    `Keyless OAuth auto-provisioning is on: older clients show no button for it, or fail to sign in. ${UPGRADE} set SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_AUTO_PROVISION=0.`,

  'certificate-expired': (ended: Ended) => expired('certificate', ended),
  'certificate-authority-expired': (ended: Ended) => expired('certificate authority', ended),
  'revocation-list-expired': (ended: Ended) => expired('revocation list', ended),
  'client-secret-expired': ({ name, expiresAt }: Ended) =>
    `The client secret of ${name} expired on ${dateOf(expiresAt)}. ${NEW_SECRET}`,
  'certificate-expires-soon': (ending: Ending) => expiresSoon('certificate', ending),
  'certificate-authority-expires-soon': (ending: Ending) =>
    expiresSoon('certificate authority', ending),
  'revocation-list-expires-soon': (ending: Ending) => expiresSoon('revocation list', ending),
  'client-secret-expires-soon': (ending: Ending) =>
    `The client secret of ${ending.name} expires on ${endOf(ending)}. ${NEW_SECRET}`,
} satisfies MessageTable;

interface Ended extends OfVariable {
  /** A common name, or the id of a provider. */
  readonly name: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

interface Ending extends Ended {
  /** Whole days that are left. */
  readonly days: number;
}

function expired(what: string, { name, variable, expiresAt }: Ended): string {
  return `The ${what} ${JSON.stringify(name)} of ${variable} expired on ${dateOf(expiresAt)}. Replace it.`;
}

function expiresSoon(what: string, { name, variable, ...ending }: Ending): string {
  return `The ${what} ${JSON.stringify(name)} of ${variable} expires on ${endOf(ending)}. Replace it.`;
}

function endOf({ expiresAt, days }: Pick<Ending, 'expiresAt' | 'days'>): string {
  return `${dateOf(expiresAt)}, in ${days === 1 ? 'one day' : `${days} days`}`;
}

function dateOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

interface ChoosableEntries extends OfProvider {
  readonly entries: readonly string[];
  readonly claim: string;
}

interface UnmetEmailRule extends OfProvider {
  /** False = the provider is asked for no address at all. */
  readonly isAskedForEmail: boolean;
}

function quoted(texts: readonly string[]): string {
  return texts.map((text) => JSON.stringify(text)).join(', ');
}
