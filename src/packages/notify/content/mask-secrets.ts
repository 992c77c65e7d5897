import { MASK } from './text.js';

/** Masks secrets of a known form, but no variables and other placeholders. Idempotent. */
export function maskSecrets(text: string): string {
  return text === '' ? text : applyRules(RULES, text);
}

type Rule = (text: string) => string;

function applyRules(rules: readonly Rule[], text: string): string {
  return rules.reduce((masked, apply) => apply(masked), text);
}

interface Found {
  readonly secret: string;
  readonly isQuoted: boolean;
  /** The text from the match to the end of its line. */
  readonly after: string;
  readonly groups: Readonly<Record<string, string | undefined>>;
}

type Exemption = (found: Found) => boolean;

const GROUPS = ['secret', 'escaped', 'double', 'single', 'tick'] as const;

/** Masks the group of {@link GROUPS} that matched, unless it `isExempt`. */
function rule(pattern: RegExp | string, isExempt: Exemption = isPlaceholder): Rule {
  let placed: RegExp | undefined;
  return (text) => {
    // The flag `d` gives the place of each group: the same characters may also occur elsewhere.
    placed ??= new RegExp(pattern, typeof pattern === 'string' ? 'gd' : `${pattern.flags}d`);
    let masked = '';
    let end = 0;
    for (const match of text.matchAll(placed)) {
      const { groups = {}, indices } = match;
      const name = GROUPS.find((one) => groups[one] !== undefined);
      const [from, to] = indices?.groups?.[name ?? ''] ?? [0, 0];
      const after = /^.{0,80}/.exec(text.slice(match.index + match[0].length))?.[0] ?? '';
      const secret = text.slice(from, to);
      if (secret !== '' && !isExempt({ secret, isQuoted: name !== 'secret', after, groups })) {
        masked += text.slice(end, from) + MASK;
        end = to;
      }
    }
    return masked + text.slice(end);
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
  'pass(?:word|wd|phrase|code)|pwd|secret(?:[_-]?id)?|(?:secret|private|account|storage|encryption|signing|shared|master|auth|app|deploy|consumer|cookie|session|jwt|hmac|license)[_-]?(?:access[_-]?)?key|api[_-]?key|access[_-]?key|token(?!s)|credentials?';
/** These count only as a separate part: `DB_PASS`, but not `bypass`. */
const SHORT_WORDS = '(?<![A-Za-z\\d])(?<!(?:low|high|band)[_-])(?:pass|pw|pswd|psk|pat|creds?)';
const SHORT_CAMEL_WORDS = '(?<=[a-z\\d])(?:Pass|Pw|Pswd|Psk|Pat|Creds?)';

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
  return (text) => (hint.test(text) ? applyRules(rules, text) : text);
}

const TOKEN_HINT = /\S{13}/;
const NAME_HINT = /pass|pwd?|pswd|psk|pat|cred|secret|key|token|_auth/i;

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

/** In code, an expression follows the sign; in a sentence, further words do. */
const isNoAssignment: Exemption = ({ secret, isQuoted, after, groups }) => {
  const { name = '', sign = '', tick } = groups;
  const isWorkingDirectory = /^pwd$/i.test(name) && /^(?:[/.~]|[A-Z]:\\)/i.test(secret);
  if (isPlaceholder({ secret }) || isWorkingDirectory || IS_DIRECTORY.test(secret)) {
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
  new RegExp(
    `(?<![\\w-])--?[\\w.-]{0,40}?(?:${name}|(?:store|key)pass)[ \\t]+(?:${ARGUMENT})`,
    flags,
  ),
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

/** Matches the arguments before an option, over continued lines, with `;` and `|` in quotes. */
const ARGUMENTS = '(?:\\\\\\n|[^\\n|;]|[|;](?<=[\\s=]["\'][^"\'\\n]{0,60}[|;])){0,400}?';
/** Matches an option's argument, of which the part after `before` is secret. */
const argument = (before = '', first = '[^\\s"\'`-]'): string =>
  `(?:\\\\?"${before}(?<double>[^"\\n]+?)(?=\\\\?"|\\n|$)|\\\\?'${before}(?<single>[^'\\n]+?)(?=\\\\?'|\\n|$)|${before}(?<secret>${first}[^\\s"'\`]*))`;
const program = (names: string, options: string, value = argument()): readonly [RegExp, RegExp] => [
  new RegExp(`\\b(?:${names})\\b${ARGUMENTS}\\s(?:${options})${value}`, 'g'),
  new RegExp(`\\b(?:${names})\\b`),
];

/** These programs take a secret under a name that does not indicate one. */
const PROGRAMS = [
  program(
    'curl|wget|xh|https?(?= )',
    '(?:-u|-a|-U|--user|--proxy-user|--auth)[ =]?',
    argument('[^\\s:"\'`$]{0,200}:', '[^\\s"\'`]'),
  ),
  program('curl', '(?:-b|--cookie)[ =]?', argument('(?=[^\\s"\'`=]{1,100}=)')),
  program('curl', '(?:-E|--cert)[ =]', argument('[^\\s:"\'`$]{1,200}:')),
  program('curl', '--oauth2-bearer[ =]'),
  program('sshpass', '-p\\s{0,4}'),
  program('mysql(?:dump|admin|import|check|pump|sh)?|mariadb(?:-dump|-admin)?|mycli', '-p'),
  program('redis-cli|valkey-cli', '-a\\s{1,4}'),
  program('redis-cli|valkey-cli', '(?:auth|AUTH)\\s{1,4}(?:[\\w-]{1,60}\\s{1,4}(?=[\\w"\']))?'),
  program('ldap(?:search|modify|add|delete|passwd|whoami|compare|modrdn|exop)', '-w\\s{0,4}'),
  program('ldappasswd', '-[as]\\s{0,4}'),
  program('mongo(?:sh|dump|restore|export|import)?', '-p\\s{1,4}'),
  program('sqlcmd|bcp|ipmitool|zip|unzip', '-P\\s{0,4}'),
  program('7z[ar]?', '-p'),
  program('smbclient|rpcclient', '-U\\s{0,4}', argument('[^\\s%"\'`]{1,100}%')),
  program('lftp', '-u\\s{1,4}', argument('[^\\s,"\'`]{1,100},')),
  program('nmcli', '(?:password|psk)\\s{1,4}'),
  program(
    'htpasswd',
    '-[a-zA-Z]{0,4}b[a-zA-Z]{0,4}\\s+(?:[^\\s"\']+\\s+){1,2}(?=[^\\s"\']+(?:\\s*$|\\s*[;|&\\n]))',
  ),
  program('docker|podman|nerdctl|buildah|helm|oras|skopeo|az|oc', `login\\b${ARGUMENTS}\\s-p[ =]?`),
  program('gh', `secret\\s+set\\b${ARGUMENTS}\\s(?:-b|--body)[ =]`),
  program('vault', 'login\\s+(?:-\\S{1,100}\\s+){0,6}(?![^\\s=]{1,100}=)'),
  program('vault', '(?:unwrap|operator\\s+unseal|token\\s+(?:lookup|renew|revoke))\\s+'),
];

const OTHER_COMMANDS = [
  new RegExp(
    `(?<=\\s)[\\w-]{1,64}=(?<=\\bvault\\s{1,4}(?:kv\\s{1,4}(?:put|patch)|write)\\s[^\\n|;]{0,400})${argument('(?!@)')}`,
    'g',
  ),
  new RegExp(`--from-literal[ =]["']?[^\\s=]{1,100}=${argument()}`, 'g'),
  new RegExp(`\\s-pass(?:in|out)?\\s+["']?pass:(?<secret>[^\\s"'\`]+)`, 'g'),
  new RegExp(
    `\\b(?:echo|printf)\\s{1,4}(?:-n\\s{1,4}|%s\\s{1,4})?${argument()}["']?\\s{0,4}\\|[^\\n]{0,200}?(?:--password-stdin|sudo\\s{1,4}-S|chpasswd|passwd\\s{1,4}--stdin)`,
    'g',
  ),
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

/** Patterns with the token in the group `secret`. */
const TOKEN_SHAPES: readonly string[] = SHAPES.map((shape) => `(?<!\\w)(?<secret>${shape})`);

/** Longer forms come first, so that shorter ones cannot match a part of them. */
const RULES: readonly Rule[] = [
  rule(PRIVATE_KEY),
  rule(PUTTY_KEY),
  rule(USER_INFORMATION, isUserName),
  ...[CREDENTIALS, PARAMETERS, WITHOUT_SCHEME, COOKIE, BEARER].map((form) => rule(form)),
  rulesWithHint(
    TOKEN_HINT,
    TOKEN_SHAPES.map((shape) => rule(shape)),
  ),
  rulesWithHint(NAME_HINT, [
    rule(assigned(NAME, 'gi'), isNoAssignment),
    rule(assigned(CAMEL_NAME, 'g'), isNoAssignment),
    ...[...formsOf(NAME, 'gi'), ...formsOf(CAMEL_NAME, 'g'), SENTENCE].map((form) => rule(form)),
  ]),
  ...PROGRAMS.map(([pattern, hint]) => rulesWithHint(hint, [rule(pattern)])),
  ...OTHER_COMMANDS.map((pattern) => rule(pattern)),
];
