import type { Messages } from '../../../../core/policy/messages/messages.js';
import type { AllowRule } from '../../../../core/policy/messages/policy-messages.js';
import type { Wording } from '../../../../core/policy/messages/statement.js';
import { findings } from './de-findings.js';

const SIGNUP_REFUSALS: Readonly<Record<string, string>> = {
  AUTH_ANONYMOUS_SIGNUP_ENABLED: 'die offene Registrierung ist aus',
  AUTH_KEY_CHALLENGE_ENABLED: 'die Anmeldung mit Geräteschlüssel ist aus',
  SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: 'verschlüsselte Inhalte werden nicht gespeichert',
};

const ALLOW_RULES: Readonly<Record<AllowRule, string>> = {
  users: 'auf dieser Liste stehen',
  emailDomains: 'eine E-Mail-Adresse dieser Domains haben',
  groupsAny: 'in einer dieser Gruppen sein',
  groupsAll: 'in allen diesen Gruppen sein',
  orgsAny: 'Mitglied einer dieser Organisationen sein',
  orgsAll: 'Mitglied aller dieser Organisationen sein',
  issuers: 'ein Zertifikat eines dieser Aussteller haben',
};

const STATUS = { eligible: 'bestätigt', ineligible: 'abgelehnt', unknown: 'unbekannt' } as const;

export const messages: Messages = {
  'signup-open': () => 'Wer diesen Server erreicht, kann ein Konto anlegen.',
  'signup-invited': () => 'Ein neuer Geräteschlüssel braucht eine Einladung.',
  'signup-refused': ({ variable }) =>
    `Ein neuer Geräteschlüssel wird abgelehnt: ${SIGNUP_REFUSALS[variable] ?? variable}.`,
  'signup-providers': ({ providers }, words) =>
    `Ein Konto mit Geräteschlüssel kann über ${anyOf(providers, words)} angelegt werden.`,
  'signup-keyless': ({ providers }, words) =>
    `Die erste Anmeldung über ${anyOf(providers, words)} legt ein Konto ohne Geräteschlüssel an.`,
  'signup-certificate': () =>
    'Die erste Anmeldung mit einem Client-Zertifikat legt ein Konto ohne Geräteschlüssel an.',

  'login-key': ({ isChallenged }) =>
    `Ein vorhandenes Konto meldet sich mit seinem Geräteschlüssel an${isChallenged ? '; es unterschreibt eine Challenge dieses Servers' : ''}.`,
  'login-key-off': () => 'Die Anmeldung mit Geräteschlüssel ist aus.',
  'login-keyless': ({ providers }, words) =>
    `Konten ohne Geräteschlüssel melden sich über ${anyOf(providers, words)} an.`,
  'login-certificate': () =>
    'Konten ohne Geräteschlüssel melden sich mit einem Client-Zertifikat an.',

  'required-none': () => 'Um den Server zu nutzen, ist kein Identitätsanbieter erforderlich.',
  'required-providers': ({ providers }, words) =>
    `Um den Server zu nutzen, muss ein Konto mit ${allOf(providers, words)} verbunden sein und dort bestätigt werden.`,
  'keyless-served': () =>
    'Ein Konto ohne Geräteschlüssel ist nur zugelassen, solange eine seiner Identitäten bestätigt ist.',
  'provider-open': ({ provider }, words) =>
    `Wer eine Identität bei ${words.provider(provider)} hat, wird dort bestätigt.`,
  'provider-rule': ({ provider, rule, values }, words) =>
    `Wer bei ${words.provider(provider)} bestätigt werden soll, muss ${ALLOW_RULES[rule]}: ${values.join(', ')}.`,
  'provider-directory': ({ provider }, words) =>
    `Wer bei ${words.provider(provider)} bestätigt werden soll, muss in dessen Verzeichnis aktiv sein.`,
  rechecked: ({ seconds }) => `Identitäten werden ${interval(seconds)} erneut geprüft.`,
  'not-rechecked': () => 'Verbundene Identitäten werden nicht erneut geprüft.',
  'login-instead': () =>
    'Gibt ein Anbieter kein Refresh-Token aus, gilt eine Anmeldung ein Intervall lang; danach muss sich die Person neu anmelden.',
  'outage-strict': () =>
    'Während ein Anbieter ausfällt, werden seine Identitäten abgelehnt, sobald ihre letzte Bestätigung so alt ist.',
  'outage-lenient': () => 'Während ein Anbieter ausfällt, gilt seine letzte Antwort.',

  'revoked-within': ({ seconds }) =>
    `Beendeter Zugang wird spätestens nach ${seconds} Sekunden von jeder Instanz abgelehnt, was auch ausfällt; mit Redis meist sofort.`,
  'revoked-at-backends': ({ seconds }) =>
    `Ein Backend mit Guard lehnt ihn innerhalb seiner Frist ab: nach ${seconds} Sekunden, wenn es keine andere setzt.`,

  'resource-server': ({ name, resource, providers, isKeyed }, words) =>
    `Sitzungen erhalten Tokens für ${name} (${resource}).${providers.length === 0 ? '' : ` Dafür muss ein Konto außerdem mit ${allOf(providers, words)} verbunden sein und dort bestätigt werden.`}${isKeyed ? ' Konten ohne Geräteschlüssel werden dort abgelehnt.' : ''}`,

  'content-encrypted': () =>
    'Nur Ende-zu-Ende-verschlüsselte Inhalte werden gespeichert; der Server kann sie nicht lesen.',
  'content-plain': () =>
    'Verschlüsselte Inhalte werden abgelehnt; der Server kann alles Gespeicherte lesen.',
  'content-optional': ({ isKeyless, canSwitch }) =>
    `Inhalte können Ende-zu-Ende-verschlüsselt oder für den Server lesbar sein${isKeyless ? ', und Konten ohne Geräteschlüssel sind erlaubt' : ''}.${canSwitch ? ' Benutzer können zwischen beidem wechseln.' : ''}`,
  'plain-sealed': () =>
    'Inhalte ohne Ende-zu-Ende-Verschlüsselung sind in der Datenbank versiegelt; der Server kann sie öffnen.',
  'plain-readable': () =>
    'Inhalte ohne Ende-zu-Ende-Verschlüsselung stehen ganz oder teilweise lesbar in der Datenbank.',

  'account-enabled': () => 'Das Konto ist nicht gesperrt.',
  'account-disabled': ({ at }, { time }) => `Das Konto ist gesperrt seit ${time(at)}.`,
  'account-keyless': () =>
    'Es hat keinen Geräteschlüssel: Eine seiner Identitäten muss bestätigt sein.',
  'no-identity-eligible': () =>
    'Keine der Identitäten, mit denen es sich anmelden kann, ist bestätigt.',
  'identity-not-confirmed': ({ provider }, words) =>
    `${words.provider(provider)} ist erforderlich und bestätigt die Identität nicht.`,
  'identity-login-expired': ({ provider }, words) =>
    `${words.provider(provider)} lässt sich ohne die Person nicht fragen, und die letzte Anmeldung dort ist zu alt: Die Person muss sich dort neu anmelden.`,
  'identity-not-linked': ({ provider }, words) =>
    `${words.provider(provider)} ist erforderlich, und keine Identität davon ist verbunden.`,
  'backend-allowed': ({ name }) => `${name}: Die Sitzungen erhalten Tokens.`,
  'backend-refused': ({ name, provider, code }, words) =>
    `${name}: Die Sitzungen erhalten kein Token (${provider === null ? '' : `${words.provider(provider)}: `}${words.reason(code)}).`,
  'backend-programs': ({ name, programs }) =>
    `${name}: Dort handeln Programme für die Person: ${programs.join(', ')}.`,
  'login-allowed': ({ method }, { provider }) => `Anmeldung mit ${provider(method)}: erlaubt.`,
  'login-refused': ({ method, variable, code }, { provider, reason }) =>
    `Anmeldung mit ${provider(method)}: abgelehnt wegen ${variable} (${reason(code)}).`,

  'identity-absent': () => 'Keine Identität ist verbunden.',
  'identity-linked': ({ name, status, reason }, words) =>
    `Verbunden als ${name}; gespeichertes Ergebnis: ${judged(status, reason, words)}.`,
  'identity-checks': ({ checkedAt, nextCheckAt, failures }, words) =>
    `Letzte klare Antwort: ${timeOf(checkedAt, words)}; nächste Prüfung: ${timeOf(nextCheckAt, words)}; Prüfungen ohne Antwort seither: ${failures}.`,
  'identity-no-facts': () => 'Angaben über die Person sind noch nicht gespeichert.',
  'identity-facts': ({ login, email, isVerified, groups, memberOf, invitedTo, strangerTo }) =>
    facts('des Anbieters', [
      login !== null && `Login ${login}`,
      email !== null && `E-Mail-Adresse ${email} (${isVerified ? '' : 'nicht '}geprüft)`,
      groups === null
        ? memberOf.length + invitedTo.length + strangerTo.length === 0 && 'Gruppen nicht gemeldet'
        : `Gruppen ${groups.join(', ') || 'keine'}`,
      valued('Mitglied von', memberOf),
      valued('eingeladen von', invitedTo),
      valued('kein Mitglied von', strangerTo),
    ]),
  'certificate-facts': ({ names, issuer, expiresAt }, { time }) =>
    facts('aus dem Zertifikat', [
      valued('Namen', names),
      issuer !== null && `Aussteller ${issuer}`,
      expiresAt !== null && `gültig bis ${time(expiresAt)}`,
    ]),
  'identity-judged': ({ status, reason }, words) =>
    `Nach diesen Regeln: ${judged(status, reason, words)}.`,
  'identity-not-judged': () => 'Nach diesen Regeln: nicht beurteilt.',
  'directory-active': ({ at }, { time }) =>
    `Das Verzeichnis führt die Person als aktiv seit ${time(at)}.`,
  'directory-inactive': ({ at }, { time }) =>
    `Das Verzeichnis hat die Person am ${time(at)} deaktiviert. Eine neuere Anfrage des Verzeichnisses oder der Befehl „gatehouse account enable“ hebt das auf.`,
  'directory-absent': () =>
    'Das Verzeichnis führt die Person nicht als aktiv, was signals.scim.required verlangt.',
  'signal-disabled': ({ at }, { time }) =>
    `Der Anbieter hat die Person am ${time(at)} durch ein Signal gesperrt.`,
  'signed-out': ({ at }, { time }) =>
    `Der Anbieter hat am ${time(at)} alle Sitzungen der Person beendet (Universal Logout). Die nächste Anmeldung beim Anbieter hebt das auf.`,

  ...findings,
};

const anyOf = (ids: readonly string[], { provider }: Wording): string =>
  new Intl.ListFormat('de', { type: 'disjunction' }).format(ids.map(provider));

const allOf = (ids: readonly string[], { provider }: Wording): string =>
  new Intl.ListFormat('de', { type: 'conjunction' }).format(ids.map(provider));

const facts = (source: string, known: readonly (string | false)[]): string =>
  `Angaben ${source}: ${known.filter(Boolean).join('; ') || 'keine'}.`;

const valued = (label: string, values: readonly string[]): string | false =>
  values.length > 0 && `${label} ${values.join(', ')}`;

function interval(seconds: number): string {
  if (seconds % 3600 === 0) {
    return seconds === 3600 ? 'stündlich' : `alle ${seconds / 3600} Stunden`;
  }
  if (seconds % 60 === 0) {
    return seconds === 60 ? 'jede Minute' : `alle ${seconds / 60} Minuten`;
  }
  return `alle ${seconds} Sekunden`;
}

function judged(status: keyof typeof STATUS, reason: string | null, words: Wording): string {
  return reason === null ? STATUS[status] : `${STATUS[status]} (${words.reason(reason)})`;
}

function timeOf(at: number | null, { time }: Wording): string {
  return at === null ? 'nie' : time(at);
}
