import { commandSecrets, type Span } from './mask-commands.js';
import { MASK } from './text.js';

/**
 * Masks secrets of a known form, but no variables and other placeholders. Idempotent.
 * @param acts true for what a person permits: nothing that a shell acts on is masked there, only
 *   single words without blanks and operators, and nothing within a here-document
 */
export function maskSecrets(text: string, acts = false): string {
  const documents = acts ? hereDocumentsIn(text) : [];
  const isShown = ({ from, to }: Span): boolean =>
    acts &&
    (canAct(text.slice(from, to)) || documents.some((one) => from < one.to && one.from < to));
  const secrets = RULES.flatMap((find) => find(text)).filter((one) => !isShown(one));
  let masked = '';
  let end = 0;
  for (const { from, to } of secrets.sort((one, other) => one.from - other.from)) {
    masked += from < end ? '' : text.slice(end, from) + MASK;
    end = Math.max(end, to);
  }
  return masked + text.slice(end);
}

const HERE_DOCUMENT =
  /(?<head>(?<!<)<<-?[ \t]*(?<quote>["']?)(?<word>\w+)\k<quote>[^\n]*\n)[^]*?(?:\n\s*\k<word>(?!\w)|$)/g;

function hereDocumentsIn(text: string): Span[] {
  return Array.from(text.matchAll(HERE_DOCUMENT), ({ index, 0: whole, groups }) => ({
    from: index + (groups?.['head'] ?? '').length,
    to: index + whole.length,
  }));
}

/** Returns the secrets of one form. */
type Rule = (text: string) => readonly Span[];

/** Blanks and operators of a shell can hide a further command. */
const canAct = (secret: string): boolean => /[\s`$!<>();&|]/.test(secret);

interface Found {
  readonly secret: string;
  readonly isQuoted: boolean;
  /** The text from the match to the end of its line. */
  readonly after: string;
  /** The text of the line before the secret. */
  readonly before: string;
  readonly groups: Readonly<Record<string, string | undefined>>;
}

type Exemption = (found: Found) => boolean;

const GROUPS = ['secret', 'escaped', 'double', 'single', 'tick'] as const;

/** Finds the group of {@link GROUPS} that matched, unless it `isExempt`. */
function rule(pattern: RegExp | string, isExempt: Exemption = isPlaceholder): Rule {
  let placed: RegExp | undefined;
  return (text) => {
    // The flag `d` gives the place of each group: the same characters may also occur elsewhere.
    placed ??= new RegExp(pattern, typeof pattern === 'string' ? 'gd' : `${pattern.flags}d`);
    return [...text.matchAll(placed)].flatMap(({ 0: whole, index, groups = {}, indices }) => {
      const name = GROUPS.find((one) => groups[one] !== undefined) ?? 'secret';
      const [from, to] = indices?.groups?.[name] ?? [0, 0];
      const after = /^.{0,80}/.exec(text.slice(index + whole.length))?.[0] ?? '';
      const before = /.{0,200}$/.exec(text.slice(Math.max(0, from - 200), from))?.[0] ?? '';
      const found = { secret: text.slice(from, to), isQuoted: name !== 'secret', after, before };
      return from === to || isExempt({ ...found, groups }) ? [] : [{ from, to }];
    });
  };
}

/** Variables, templates, types and masked text, which are not secrets. */
const PLACEHOLDERS = [
  /^(?:\\?\$|%\w+%|<|\{|\[masked|\*+$|x+$|\.{3}|…|process\.env|os\.(?:environ|getenv)|import\.meta)/i,
  /^(?:null|none|nil|undefined|true|false|string|str|bytes|number|boolean|bool|any|unknown|required|optional|redacted|hidden|inherit|yes|no|on|off|ok)[?;,.]?$/i,
];

function isPlaceholder({ secret }: Pick<Found, 'secret'>): boolean {
  return PLACEHOLDERS.some((form) => form.test(secret));
}

const PRIVATE_KEY =
  /-----BEGIN [A-Z\d ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?<secret>.+?)(?:-----END [A-Z\d ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/gs;
const PUTTY_KEY = /\bPrivate-Lines: \d+\s+(?<secret>[\w+/=\s]+)/g;

const HEADER = '\\bauthorization["\']?\\s*[:=,]\\s*["\']?';
const CREDENTIALS = new RegExp(
  `${HEADER}(?:Bearer|Basic|Token|Api-?Key|Negotiate|NTLM|GenieKey|Bot|OAuth)\\s+(?<secret>[^\\s"'\`,;]+)`,
  'gi',
);
const PARAMETERS = new RegExp(
  `${HEADER}(?:Digest|Hawk|Signature|AWS4-HMAC-SHA256)\\s+(?<secret>[^\\n\`]*[^\\s"'\`])`,
  'gi',
);
const WITHOUT_SCHEME = new RegExp(
  `${HEADER}(?<secret>[\\w.~+/=-]{8,})(?=["'\`]|[ \\t]*(?:\\n|$))`,
  'gi',
);
const BEARER = /\bBearer\s+(?<secret>(?=[^\s\d]{0,200}\d)[\w.~+/=-]{16,})/gi;
const COOKIE = /\b(?:set-)?cookie:\s*(?<secret>[\w!#$%&*.^|~-]{1,100}=[^\n"'`]+)/gi;

const USER_INFORMATION = /(?<scheme>[a-z]{0,12}):\/\/(?<secret>[^\s/?#"'<>`]{1,512})@(?=[\w[$])/gi;

/** Without a password, the text before the @ is a token with http, else a user name. */
const isUserName: Exemption = ({ secret, groups: { scheme = '' } }) => {
  const at = secret.indexOf(':');
  const password = secret.slice(at + 1);
  const isName = at === -1 && !/^https?$/i.test(scheme);
  return isName || password === '' || isPlaceholder({ secret: password });
};

/** These also count within a longer name: `DB_PASSWORD`, `dbpassword`. */
const LONG_WORDS =
  'pass(?:word|wd|phrase|code)|pwd|secret|(?:secret|private|account|storage|encryption|signing|shared|master|auth|app|deploy|consumer|cookie|session|jwt|hmac|license)[_-]?(?:access[_-]?)?key|api[_-]?key|access[_-]?key|(?:db|ssh|user|admin|root|store|key)pass|token(?!s)|credentials?';
/** These count only as a separate part: `DB_PASS`, but not `bypass`. */
const SHORT_WORDS = '(?<![A-Za-z\\d])(?<!(?:low|high|band)[_-])(?:pass|pw|pswd|psk|pat|pin)';
const SHORT_CAMEL_WORDS = '(?<=[a-z\\d])(?:Pass|Pw|Pswd|Psk|Pat|Pin)';

/** A name that ends in one of these describes a secret and does not hold it. */
const DESCRIPTIONS =
  'age|alg|algorithm|arn|at|attempts|audience|budget|cache|class|cmd|command|count|days|dir|directory|enabled|endpoint|env|expir(?:y|es|ation)|fail(?:ed)?|fd|field|file(?:names?)?|format|from|header|helper|hint|host|hours|id|in|index|issuer|kind|label|len(?:gth)?|lifetime|limit|manager|max|min|minutes|mode|name(?:space)?|path|policy|port|prefix|provider|rate|ref|reference|required|role|rotation|scopes?|seconds|size|stdin|store|suffix|through|thru|timeout|ttl|type|uri|url|usage|user(?:name)?|used|validity|version';
const NO_DESCRIPTION = `(?!(?:${DESCRIPTIONS})(?![A-Za-z]))`;
/** Further parts of a name, such as `_PROD` in `API_TOKEN_PROD`. */
const PARTS = `\\d{0,3}(?:[_.-]{1,2}${NO_DESCRIPTION}[A-Za-z\\d]{1,40}){0,6}`;
const capitalized = DESCRIPTIONS.replace(/(?<=^|\|)[a-z]/g, (first) => first.toUpperCase());
const CAMEL_PARTS = `\\d{0,3}(?:(?!(?:${capitalized})(?![a-z]))[A-Z][a-z\\d]{1,40}){0,6}`;
const CAMEL_WORDS =
  '(?:[Pp]ass(?:word|wd|phrase|code)|[Ss]ecret|[Tt]oken|(?:[Aa]pi|[Aa]ccess|[Pp]rivate|[Ss]igning)Key)';

/** Most texts match no hint and skip the patterns, whose compilation takes longer than their use. */
function rulesWithHint(hint: RegExp, rules: readonly Rule[]): Rule {
  return (text) => (hint.test(text) ? rules.flatMap((find) => find(text)) : []);
}

const TOKEN_HINT = /\S{13}/;
const NAME_HINT = /pass|pwd?|pswd|psk|pat|pin|cred|secret|key|token|_auth/i;

const NAME = `(?:(?:${LONG_WORDS})|${SHORT_WORDS})${PARTS}`;
const CAMEL_NAME = `(?:${CAMEL_WORDS}(?=[A-Z])|${SHORT_CAMEL_WORDS})${CAMEL_PARTS}(?![a-z])`;

const QUOTED =
  '\\\\"(?<escaped>[^"\\n]+?)(?=\\\\?"|\\n|$)|\\\\?\'(?<single>[^\'\\n]+?)(?=\\\\?\'|\\n|$)|"(?<double>(?:\\\\.|[^"\\\\\\n])+)';
const VALUE = `${QUOTED}|\`(?<tick>[^\`\\n]+)|(?<secret>[^\\s"'\`&;|<>,(){}[\\]]+)`;
const ARGUMENT = `${QUOTED}|(?<secret>[^\\s"'\`;|&-][^\\s"'\`;|&]*)`;

const SIGN = '(?<sign>[ \\t]*(?::=|=>|[?+]?=(?![=>:?~])|:(?![=>:/?]))[ \\t]*)';
const assigned = (name: string, flags: string): RegExp =>
  new RegExp(`(?<name>${name})(?:\\\\?["'])?${SIGN}(?:${VALUE})`, flags);

const ENDS_LINE = /^[;,)}\]]{0,3}[ \t]*(?:$|#|\/\/)/;
const IS_MEMBER = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+$/;
const IS_DIRECTORY =
  /^(?:[.~]{0,2}\/(?:run|etc|var|home|usr|opt|tmp|srv|mnt|root|dev|proc|data|app|secrets?|Users|Volumes|workspace)\b|\.{1,2}\/|~\/)/;

/** A random secret may hold a dot too. */
const isMember = (text: string): boolean =>
  IS_MEMBER.test(text) && !(/\d/.test(text) && /[a-z]/.test(text) && /[A-Z]/.test(text));

const isMixed = (text: string): boolean =>
  text.length >= 8 && /\d/.test(text) && /[a-z]/i.test(text);

/** A command that deletes something takes its name, which a person has to read. */
const isDeleted: Exemption = ({ secret, before }) =>
  /\b(?:delete|destroy|remove|revoke|rm)\b/.test(before) &&
  /^(?:[a-z]+(?:[/-][a-z]+)*|[A-Z]+)$/.test(secret);

const isNoArgument: Exemption = (found) => isPlaceholder(found) || isDeleted(found);

/** In code, an expression follows the sign; in a sentence, further words do. */
const isNoAssignment: Exemption = (found) => {
  const { secret, isQuoted, after, groups } = found;
  const { name = '', sign = '', tick } = groups;
  const isWorkingDirectory = /^pwd$/i.test(name) && /^(?:[/.~]|[A-Z]:\\)/i.test(secret);
  if (isNoArgument(found) || isWorkingDirectory || IS_DIRECTORY.test(secret)) {
    return true;
  }
  const isShell = /^[?+]?=$/.test(sign);
  if (isQuoted) {
    // A shell runs the command between backticks to get the value.
    return tick !== undefined && isShell;
  }
  if (/^[([{]/.test(after) || sign.includes('=>')) {
    return true;
  }
  const isTally = !isShell && /^pass$/i.test(name) && /^\d{1,5}$/.test(secret);
  const isValue = ENDS_LINE.test(after) || isMixed(secret);
  return isTally || (!isShell && (isMember(secret) || !isValue));
};

/** In these forms no sign separates a name from its value. */
const formsOf = (name: string, flags: string): readonly RegExp[] => [
  // An option; Java and Go write it with one dash.
  new RegExp(`(?<![\\w-])--?[\\w.-]{0,40}?(?:${name})[ \\t]+(?:${ARGUMENT})`, flags),
  // `npm config set //registry/:_authToken VALUE`, `setx DB_PASS VALUE`, `ENV DB_PASS VALUE`
  new RegExp(
    `(?:\\b(?:config|configure|secrets?|variables?|env|npm)[ :]+(?:set|add|put)|\\bgit[ \\t]+config|\\bset(?:x|env)|\\bset[ \\t]+-\\w{1,4}|^[ \\t]*ENV)(?:[ \\t]+--?[\\w-]{1,40}){0,4}[ \\t]+[^\\s=]{0,120}?(?:${name}|_auth)[ \\t]+(?:${ARGUMENT})`,
    `${flags}m`,
  ),
  // A variable of a container: the name in one line and the value in the next.
  new RegExp(
    `\\b[Nn]ame\\\\?["']?\\s{0,4}[:=]\\s{0,4}\\\\?["']?[\\w.-]{0,60}?(?:${name})\\\\?["']?(?:,\\s{0,40}|\\s{1,40})\\\\?["']?[Vv]alue\\\\?["']?\\s{0,4}[:=]\\s{0,4}(?:${VALUE})`,
    flags,
  ),
  // A block in YAML.
  new RegExp(`(?:${name})["']?:[ \\t]*[|>][-+\\d]{0,2}[ \\t]*\\n[ \\t]+(?<secret>[^\\n]+)`, flags),
  // An element in XML.
  new RegExp(`<[\\w.:-]{0,40}?(?:${name})>(?<secret>[^<\\n]+)`, flags),
];

/** An unquoted value needs a digit, because a sentence may continue with any word. */
const SENTENCE =
  /\b(?:password|passphrase|passcode|token|secret|api[ -]key)s? (?:is|was)[ \t]+(?:"(?<double>[^"\n]+)|'(?<single>[^'\n]+)|`(?<tick>[^`\n]+)|(?<secret>(?=[^\s\d]{0,100}\d)[^\s"'`,;]{6,}))/gi;

/** A header of a key, whatever its name and its scheme. */
const HEADER_ARGUMENT =
  /(?:-H|--headers?)[ =]?["'](?:[\w-]{0,60}(?:key|token|secret|password|auth)|(?:proxy-)?authorization)\s*[:=]\s*(?:(?:[A-Za-z][\w-]{1,30}\s+)(?=[^\s"']+["']))?(?<secret>[^"'\n]+)/gi;

const SQL =
  /\b(?:identified\s+(?:with\s+\S{1,60}\s+)?(?:by|as)(?:\s+password)?|password)(?:\s+|\s*[(=]\s*)\\?(?:'(?<single>[^'\n]+)|"(?<double>[^"\\\n]+))/gi;

const OTHER_FORMS = [
  HEADER_ARGUMENT,
  SQL,
  /\bidentified\s+by\s+(?<secret>[^\s"'`;(]+)/gi,
  /\bpragma\s+key\s*=\s*["']?(?<secret>[^"'\n;]+)/gi,
  // A function of MongoDB's shell, and a data source of Oracle.
  /(?:\.auth|UserPassword)\(\s*["'][^"'\n]+["'],\s*["'](?<secret>[^"'\n]+)/g,
  /:thin:[^\s/]{1,100}\/(?<secret>[^\s@]+)@/g,
  // Other variables whose name ends in KEY hold a secret if their value looks like one.
  /\b(?![A-Z\d_]*(?:PUBLIC|PRIMARY|CACHE|SORT|PARTITION|FOREIGN))[A-Z][A-Z\d_]{0,60}_KEY=["']?(?<secret>(?=\S{0,200}\d)[\w+/=.-]{16,})/g,
  /\blogin\s+\S{1,200}\s+password\s+(?<secret>\S+)/g,
  /[?&](?:sig|signature|x-(?:amz|goog)-signature|code)=(?<secret>[\w%.~+/=-]{8,})/gi,
] as const;

/** Token forms that their issuers document for secret scanning. */
const SHAPES = [
  'gh[pousr]_[A-Za-z0-9]{36,255}',
  'github_pat_[A-Za-z0-9_]{22,255}',
  'gl(?:pat|oas|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct)-[\\w.-]{20,}',
  'ATBB[A-Za-z0-9]{32,}',
  'xox[abeoprs]-[\\w-]{10,}',
  'xapp-\\d-[\\w-]{10,}',
  '(?<=hooks\\.slack\\.com/(?:services|workflows|triggers)/)[\\w/-]{20,}',
  '(?<=discord(?:app)?\\.com/api/webhooks/\\d{5,25}/)[\\w-]{20,}',
  '\\d{8,10}:AA[\\w-]{33}',
  '(?:AKIA|ASIA)[A-Z2-7]{16}',
  'AIza[\\w-]{35}',
  'ya29\\.[\\w-]{20,}',
  'GOCSPX-[\\w-]{28}',
  'do[opr]_v1_[0-9a-f]{64}',
  'dapi[0-9a-f]{32}',
  'hv[sbr]\\.[\\w-]{24,}',
  's\\.[A-Za-z0-9]{24}(?!\\w)',
  'ops_eyJ[\\w-]{20,}',
  '[A-Za-z0-9]{14}\\.atlasv1\\.[\\w-]{60,}',
  'dckr_(?:pat|oat)_[\\w-]{20,}',
  'pscale_(?:tkn|pw|oauth)_[\\w.-]{32,}',
  'sbp_[0-9a-f]{40}',
  'gl(?:sa|c)_[\\w+/=]{32,}',
  'NRAK-[A-Z0-9]{27}',
  'dp\\.(?:pt|st|ct|sa|scim|audit)\\.[\\w.-]{40,}',
  'lin_api_[A-Za-z0-9]{40}',
  'ATATT3[\\w=-]{50,}',
  'PMAK-[0-9a-f]{24}-[0-9a-f]{34}',
  '(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}',
  'whsec_[A-Za-z0-9+/]{24,}={0,2}',
  'sq0(?:atp|csp)-[\\w-]{22,}',
  'shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}',
  'SG\\.[\\w-]{16,32}\\.[\\w-]{16,64}',
  'SK[0-9a-f]{32}',
  'key-[0-9a-f]{32}',
  '[0-9a-f]{32}-us\\d{1,2}',
  'sk-(?:ant|proj|svcacct|admin|or)-[\\w-]{20,}',
  'sk-(?=[A-Za-z]{0,60}\\d)[A-Za-z0-9]{20,}',
  'gsk_[A-Za-z0-9]{40,}',
  'xai-[A-Za-z0-9]{40,}',
  'pplx-[A-Za-z0-9]{40,}',
  'hf_[A-Za-z0-9]{34,}',
  'npm_[A-Za-z0-9]{36}',
  'pypi-[\\w-]{50,}',
  'rubygems_[0-9a-f]{48}',
  'eyJ[\\w-]{8,}(?:\\.[\\w-]*){2,4}',
  'AGE-SECRET-KEY-1[0-9A-Z]{58}',
  '(?<=Expo(?:nent)?PushToken\\[)[^\\]\\s]{8,}(?=\\])',
  // Bech32m is of one case (BIP 350), and capitals are what QR codes hold.
  'gatekey1[02-9ac-hj-np-z]{20,}',
  'GATEKEY1[02-9AC-HJ-NP-Z]{20,}',
] as const;

const RULES: readonly Rule[] = [
  rule(PRIVATE_KEY),
  rule(PUTTY_KEY),
  rule(USER_INFORMATION, isUserName),
  ...[CREDENTIALS, PARAMETERS, WITHOUT_SCHEME, COOKIE, BEARER].map((form) => rule(form)),
  rulesWithHint(TOKEN_HINT, [rule(`(?<!\\w)(?<secret>${SHAPES.join('|')})`)]),
  rulesWithHint(NAME_HINT, [
    rule(assigned(NAME, 'gi'), isNoAssignment),
    rule(assigned(CAMEL_NAME, 'g'), isNoAssignment),
    ...[...formsOf(NAME, 'gi'), ...formsOf(CAMEL_NAME, 'g'), SENTENCE].map((form) =>
      rule(form, isNoArgument),
    ),
  ]),
  ...OTHER_FORMS.map((pattern) => rule(pattern)),
  (text) =>
    commandSecrets(text).filter(({ from, to }) => !isPlaceholder({ secret: text.slice(from, to) })),
];
