import type { FINDING_MESSAGES } from '../../../../core/policy/messages/finding-messages.js';

const STORAGE_POLICY = 'SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY';
const UPGRADE = 'Aktualisieren Sie zuerst alle Clients (docs/upgrade.md); setzen Sie bis dahin';
const NEW_SECRET = 'Legen Sie beim Anbieter ein neues an.';

export const findings: typeof FINDING_MESSAGES = {
  'required-provider-not-configured': ({ provider }) =>
    `AUTH_REQUIRED_LOGIN_PROVIDERS nennt ${provider}, das nicht eingerichtet ist: Bis dahin wird jedes Konto abgelehnt.`,
  'no-login-method': () =>
    'Es gibt keinen Weg mehr, sich anzumelden: Geräteschlüssel, Anbieter ohne Geräteschlüssel und Zertifikate sind alle aus oder unvollständig.',
  'keyless-provider-not-configured': ({ provider }) =>
    `SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS nennt ${provider}, das nicht eingerichtet ist: Niemand kann sich darüber anmelden.`,
  'keyless-accounts-need-plaintext': () =>
    'Konten ohne Geräteschlüssel sind eingeschaltet, aber SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY ist required_e2ee: Sie bleiben aus. Verwenden Sie optional oder plaintext_only.',
  'keyless-login-without-accounts': () =>
    'Die Anmeldung ohne Geräteschlüssel über OAuth ist eingeschaltet, aber SERVICE_FEATURE_E2EE__KEYLESS_ACCOUNTS_ENABLED ist aus: Niemand kann sich so anmelden.',
  'plaintext-only-without-keyless': () =>
    'Die Speicherregel ist plaintext_only, und Konten ohne Geräteschlüssel sind aus: Nur Konten mit Geräteschlüssel können sich anmelden, und was sie verschlüsseln, wird abgelehnt.',
  'mtls-without-keyless': () =>
    'Die Anmeldung mit Zertifikaten ist eingeschaltet, braucht aber Konten ohne Geräteschlüssel und eine andere Speicherregel als required_e2ee. (Wo AUTH_REQUIRED_LOGIN_PROVIDERS mtls nennt, verbinden Konten mit Geräteschlüssel ein Zertifikat.)',
  'mtls-unreachable': () =>
    'Weitergereichte Zertifikate sind eingeschaltet, aber keinem Proxy wird dabei vertraut: Setzen Sie SERVICE_FEATURE_AUTH_MTLS__TRUST_FORWARDED_HEADERS und SERVICE_FEATURE_AUTH_MTLS__TRUSTED_PROXIES.',
  'signup-provider-not-configured': ({ provider }) =>
    `AUTH_SIGNUP_PROVIDERS nennt ${provider}, das nicht eingerichtet ist: Niemand kann sich darüber registrieren.`,
  'oauth-not-configured': ({ provider }) =>
    `${provider} ist eingerichtet, aber sein Callback an diesem Server oder die Adresse, zu der Browser zurückkehren, ist nicht bekannt: Niemand kann sich darüber anmelden oder verbinden. Setzen Sie SERVICE_PUBLIC_URL; oder seine Rückkehradresse, mit SERVICE_WEBAPP_URL oder SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE.`,
  'resource-server-admits-no-account': ({ backend }) =>
    `Das Backend ${backend} lässt kein Konto zu: allowKeyless ist in seinem Eintrag false, und Konten mit Geräteschlüssel können sich hier nicht anmelden. Setzen Sie AUTH_KEY_CHALLENGE_ENABLED oder allowKeyless.`,
  'trusts-every-peer': () =>
    'Eine Liste vertrauter Proxys enthält jede Adresse: Wer den Server direkt erreicht, kann fälschen, was ein Proxy meldet.',

  'no-signup-method': ({ variable }) =>
    `Es kann kein Konto angelegt werden: ${variable} lehnt neue Geräteschlüssel ab, und kein Anbieter und kein Zertifikat darf ein Konto anlegen.`,
  'keyless-oauth-without-providers': () =>
    'Die Anmeldung ohne Geräteschlüssel über OAuth ist eingeschaltet, aber SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS ist leer: Eine leere Liste erlaubt keinen Anbieter.',
  'answers-without-keys': () =>
    'SERVICE_FEATURE_ANSWERS__ENABLED ist an, aber kein Konto kann einen Schlüssel haben: Personen können Anfragen ihrer Programme ablehnen, aber keine erlauben. Lassen Sie die Variable leer, oder bieten Sie Geräteschlüssel und verschlüsselte Inhalte an.',
  'signup-provider-on-plaintext-only': () =>
    'AUTH_SIGNUP_PROVIDERS legt Konten mit Geräteschlüssel an, die ein Server mit plaintext_only nicht anbietet: Lassen Sie Konten ohne Geräteschlüssel bei der ersten Anmeldung anlegen.',
  'client-challenges-accepted': () =>
    'AUTH_REQUIRE_SERVER_CHALLENGE ist false: Eine Anmeldung mit einer Challenge, die der Client selbst erzeugt hat, läuft nie ab. Wer sie abfängt, kann sie beliebig oft senden und erhält jedes Mal ein neues Token. Setzen Sie die Variable auf true, sobald alle Clients /v1/auth/challenge abfragen (zuerst die Server, dann die Clients, dann true).',
  'login-origin-unknown': () =>
    'Weder SERVICE_PUBLIC_URL noch SERVICE_LOGIN_ORIGINS ist gesetzt: Clients, die diesen Server unter einem Namen oder einer öffentlichen Adresse erreichen, lehnen seine Challenges ab und können sich mit einem Geräteschlüssel weder registrieren noch anmelden. Setzen Sie SERVICE_PUBLIC_URL auf die Adresse, die sie verwenden.',
  'public-url-without-tls': () =>
    'SERVICE_PUBLIC_URL beginnt mit http://, aber mit SERVICE_TLS_CERT_PATH antwortet PORT nur über HTTPS: Unter dieser Adresse erreicht niemand den Server, außer über einen Proxy. Verwenden Sie https://.',
  'anonymous-signup-on-public-server': () =>
    'SERVICE_PUBLIC_URL sieht öffentlich aus, und die offene Registrierung ist an: Jeder im Internet kann ein Konto anlegen.',
  'any-program-on-public-server': ({ backend }) =>
    `${backend} akzeptiert jedes Programm mit einem Metadatendokument, und SERVICE_PUBLIC_URL sieht öffentlich aus: Jeder kann ein Programm veröffentlichen und Personen um Zugriff bitten. Nennen Sie die Programme in clients, oder lassen Sie „known“.`,
  'program-scope-without-text': ({ backend, scope }) =>
    `Der Scope ${scope} von ${backend} hat keinen Text außer seiner Kennung: Wer ihn erlaubt, liest nicht, was er bedeutet.`,
  'anonymous-signup-with-required-provider': () =>
    'Die offene Registrierung ist an, obwohl ein Anbieter erforderlich ist: Jeder kann Konten anlegen, die nichts nützen, bis der Anbieter verbunden ist.',
  'invitations-with-anonymous-signup': () =>
    'AUTH_SIGNUP_INVITATIONS_ENABLED ist an, die offene Registrierung aber auch: Ein neuer Geräteschlüssel braucht keine Einladung. Setzen Sie AUTH_ANONYMOUS_SIGNUP_ENABLED=false.',
  'invitations-refused': ({ variable }) =>
    `AUTH_SIGNUP_INVITATIONS_ENABLED ist an, aber ${variable} lehnt neue Geräteschlüssel ab: Keine Einladung kann verwendet werden.`,
  'required-provider-unrestricted': ({ provider }) =>
    `${provider} ist erforderlich, hat aber keine Liste erlaubter Personen: Wer dort eine Identität hat, wird bestätigt.`,
  'resource-server-provider-unrestricted': ({ provider, resourceServer }) =>
    `${resourceServer} verlangt ${provider}, das keine Liste erlaubter Personen hat: Wer dort eine Identität hat, erhält Tokens.`,
  'offboarding-without-allowlists': () =>
    'Identitäten werden erneut geprüft, aber kein Anbieter hat eine Liste erlaubter Personen: Nur Identitäten, die verschwinden, verlieren den Zugang.',
  'allowlists-without-offboarding': () =>
    'Ein Anbieter hat eine Liste erlaubter Personen, aber Identitäten werden nicht erneut geprüft: Wer von der Liste gestrichen wird, behält den Zugang.',
  'allowlist-not-checked-again': ({ provider }) =>
    `${provider} hat eine Liste erlaubter Personen und speichert kein Refresh-Token: Ohne die Person wird nicht erneut geprüft. Wo der Anbieter über den Zugang entscheidet, zählt eine Anmeldung dort für AUTH_OFFBOARDING_INTERVAL_SECONDS, danach muss sich die Person neu anmelden (provider-required). Lassen Sie storeRefreshToken weg, oder setzen Sie es auf true.`,
  'refresh-token-scope-missing': ({ provider }) =>
    `${provider} hat eine Liste erlaubter Personen und wird nicht um den Scope offline_access gebeten: Die meisten Anbieter geben nur dafür ein Refresh-Token. Gibt er keines und entscheidet über den Zugang, müssen sich Personen dort jeweils nach AUTH_OFFBOARDING_INTERVAL_SECONDS neu anmelden. Der Befehl „gatehouse doctor providers“ zeigt, was er anbietet.`,
  'graph-scope-missing': ({ provider }) =>
    `${provider} liest Gruppen aus Microsoft Graph, aber scopes nennt keine seiner Berechtigungen: Personen, deren Gruppen nicht in das Token passen, können sich nicht anmelden, und ihre erneuten Prüfungen bleiben ohne Antwort. Ergänzen Sie GroupMember.Read.All, mit der Zustimmung der Administration.`,
  'github-app-id-missing': () =>
    'GITHUB_CLIENT_ID gehört zu einer GitHub App, aber Mitgliedschaften werden mit den Tokens der Personen gelesen: Diese zeigen nicht, dass jemand aus einer Organisation entfernt wurde, und ein entferntes Mitglied behält den Zugang. Setzen Sie AUTH_GITHUB_APP_ID und AUTH_GITHUB_APP_PRIVATE_KEY, und lassen Sie AUTH_GITHUB_ORG_MEMBERSHIP_SOURCE weg.',
  'certificates-not-checked-again': () =>
    'Zertifikate melden sich an, aber AUTH_OFFBOARDING_ENABLED ist false: Ein widerrufenes behält den Zugang, bis seine Tokens enden.',
  'keyless-without-offboarding': ({ providers }) =>
    `Konten ohne Geräteschlüssel melden sich über ${providers.join(', ')} an, aber Identitäten werden nicht erneut geprüft: Wer ausscheidet, behält den Zugang bis zur nächsten Anmeldung dort. Setzen Sie AUTH_OFFBOARDING_ENABLED.`,
  'keyless-not-checked-again': ({ provider }) =>
    `${provider} öffnet Konten ohne Geräteschlüssel und speichert kein Refresh-Token: Eine Anmeldung dort zählt für AUTH_OFFBOARDING_INTERVAL_SECONDS, danach muss sich die Person neu anmelden (provider-required). Setzen Sie storeRefreshToken.`,
  'allowlist-entry-can-be-chosen': ({ provider, entries, claim }) =>
    `allow.usersAllowlist von ${provider} enthält ${quoted(entries)}; darauf kann der Claim ${claim} passen, den man bei vielen Anbietern selbst wählt. Schreiben Sie sub:<subject> oder email:<address>; oder login:<name>, wo nur die Verwaltung den Namen festlegt.`,
  'directory-name-can-be-chosen': ({ provider, claim }) =>
    `signals.scim.match von ${provider} ist userName, und der Claim ${claim} muss ihm gleichen: Bei vielen Anbietern wählt man ihn selbst. Wer ausscheidet, kann so der Zuordnung entgehen oder den Namen einer anderen Person annehmen. Verwenden Sie externalId oder oid, wo das Verzeichnis die Kennung der Person sendet, oder nennen Sie in claims.login einen Claim, den nur die Verwaltung festlegt.`,
  'email-rule-never-met': ({ provider, isAskedForEmail }) =>
    isAskedForEmail
      ? `${provider} hat eine Regel über E-Mail-Adressen, die niemand erfüllen kann: email_verified bürgt nur für den Claim email, und claims.email nennt einen anderen. Setzen Sie emailVerification auf trustedIssuer, wenn nur die Verwaltung diesen Claim setzen kann.`
      : 'AUTH_GITHUB_ALLOWED_USERS enthält eine E-Mail-Adresse, auf die niemand passen kann: GitHub wird nach keiner gefragt. Schreiben Sie den Benutzernamen oder sub:<numeric id>.',
  'opt-out-without-optional-policy': () =>
    'SERVICE_FEATURE_ENCRYPTION__ALLOW_ACCOUNT_OPTOUT wirkt nur mit der Speicherregel optional.',
  'auto-redirect-target-unavailable': ({ provider }) =>
    `Die automatische Weiterleitung führt zu ${provider}, das für die Anmeldung nicht verfügbar ist: Clients zeigen stattdessen die Auswahl.`,

  'older-clients-on-plaintext-only': () =>
    `Die Speicherregel ist plaintext_only: Ältere Clients scheitern, wenn das von ihnen Verschlüsselte abgelehnt wird. ${UPGRADE} ${STORAGE_POLICY}=optional.`,
  'older-clients-on-plain-accounts': () =>
    `Die Speicherregel ist optional, und Konten können lesbar sein: Ältere Clients lesen ihre Einstellungen unter /v1/account/settings und werden mit plain-account-requires-settings-v2 abgelehnt. ${UPGRADE} ${STORAGE_POLICY}=required_e2ee.`,
  'older-clients-on-keyless-provisioning': () =>
    `Die erste Anmeldung über OAuth legt Konten ohne Geräteschlüssel an: Ältere Clients zeigen dafür keinen Knopf, oder ihre Anmeldung scheitert. ${UPGRADE} SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_AUTO_PROVISION=0.`,

  'certificate-expired': (ended) => expired('Das Zertifikat', ended),
  'certificate-authority-expired': (ended) => expired('Die Zertifizierungsstelle', ended),
  'revocation-list-expired': (ended) => expired('Die Sperrliste', ended),
  'client-secret-expired': ({ name, expiresAt }) =>
    `Das Client-Secret von ${name} ist am ${dateOf(expiresAt)} abgelaufen. ${NEW_SECRET}`,
  'certificate-expires-soon': (ending) => expiresSoon('Das Zertifikat', ending),
  'certificate-authority-expires-soon': (ending) =>
    expiresSoon('Die Zertifizierungsstelle', ending),
  'revocation-list-expires-soon': (ending) => expiresSoon('Die Sperrliste', ending),
  'client-secret-expires-soon': (ending) =>
    `Das Client-Secret von ${ending.name} läuft am ${endOf(ending)}. ${NEW_SECRET}`,
};

type Ended = Parameters<(typeof FINDING_MESSAGES)['certificate-expired']>[0];
type Ending = Parameters<(typeof FINDING_MESSAGES)['certificate-expires-soon']>[0];

function expired(what: string, { name, variable, expiresAt }: Ended): string {
  return `${what} ${JSON.stringify(name)} aus ${variable} ist am ${dateOf(expiresAt)} abgelaufen. Ersetzen Sie den Inhalt.`;
}

function expiresSoon(what: string, { name, variable, ...ending }: Ending): string {
  return `${what} ${JSON.stringify(name)} aus ${variable} läuft am ${endOf(ending)}. Ersetzen Sie den Inhalt.`;
}

function endOf({ expiresAt, days }: Pick<Ending, 'expiresAt' | 'days'>): string {
  return `${dateOf(expiresAt)} ab, ${days === 1 ? 'in einem Tag' : `in ${days} Tagen`}`;
}

function dateOf(at: number): string {
  return new Date(at).toLocaleDateString('de', { timeZone: 'UTC' });
}

function quoted(texts: readonly string[]): string {
  return texts.map((text) => JSON.stringify(text)).join(', ');
}
