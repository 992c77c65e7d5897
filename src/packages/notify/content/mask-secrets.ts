import { commandSecrets, formedSecrets, type Span } from './mask-commands.js';
import { MASK } from './text.js';

/**
 * Masks secrets of a known form, but no variables and other placeholders. Idempotent.
 * @param acts true for what a person permits: nothing that a shell acts on is masked there, only
 *   single words without blanks and operators, and nothing within a here-document
 */
export function maskSecrets(text: string, acts = false): string {
  const readable = acts
    ? text.replace(HERE_DOCUMENT, (whole, head: string) => head.padEnd(whole.length, '\n'))
    : text;
  const secrets = RULES.flatMap(([hint, find]) => (hint.test(readable) ? find(readable) : []));
  let masked = '';
  let end = 0;
  for (const [from, to] of secrets.sort(([one], [other]) => one - other)) {
    const secret = text.slice(from, to);
    // Blanks and operators of a shell can hide a further command.
    if (!PLACEHOLDER.test(secret) && !(acts && /[\s`$!<>();&|]/.test(secret))) {
      masked += from < end ? '' : text.slice(end, from) + MASK;
      end = Math.max(end, to);
    }
  }
  return masked + text.slice(end);
}

const HERE_DOCUMENT =
  /((?<!<)<<-?[ \t]*(?<quote>["']?)(?<word>\w+)\k<quote>[^\n]*\n)[^]*?(?:\n\s*\k<word>(?!\w)|$)/g;

/** These also count at the end of a longer word: `dbpassword`, `storepass`. */
const LONG_WORDS =
  'pass(?:word|wd|phrase|code)|pwd|secret|token|credentials?|authorization|masterauth|sonar_login' +
  '|(?<![a-z\\d]_)_auth|(?<!com|by|tres|over|under|sur|(?:low|high|band)_)pass' +
  '|(?:secret|private|account|storage|encryption|signing|shared|master|auth|app|deploy|consumer' +
  '|cookie|session|jwt|hmac|license|api|access|pragma|subscription|application)_?(?:access_?)?key';
/** These count only as a separate word. */
const SHORT_WORDS = '(?<![a-z\\d])(?:pw|pswd|psk|pat|pin)';
/** A name with one of these after its secret word describes a secret and does not hold it. */
const DESCRIPTIONS =
  'age|alg\\w*|arn|at|attempts|audience|budget|cache|class|cmd|command|count|days|dir\\w*|enabled' +
  '|endpoint|env|expir\\w*|fail\\w*|fd|field|files?|filenames?|format|from|hasher|header|helper|hint' +
  '|hook|hosts?|hours|id|in|index|issuer|keys|kind|label|len\\w*|lifetime|limit|manager|max|min\\w*' +
  '|mode|names?|namespace|path|policy|port|prefix|process|program|provider|rate|ref|reference' +
  '|required|role|rotation|scopes?|script|seconds|size|stdin|store|suffix|through|thru|timeout' +
  '|ttl|type|uri|url|usage|user|username|used|validity|version';
const LAST_WORD = new RegExp(
  `^.*(?<!(?:existing|next|page)_)(?:${LONG_WORDS}|${SHORT_WORDS})\\d{0,3}(?![a-z\\d])`,
);
const DESCRIPTION = new RegExp(`_(?:${DESCRIPTIONS})(?![a-z\\d])`);

/** Returns true if the words of a name, which begin at case and signs, say that it holds a secret. */
function isSecretName(name: string): boolean {
  const words = name
    .slice(-200)
    .replace(/(?<=[a-z\d])(?=[A-Z])|[^A-Za-z\d]+/g, '_')
    .toLowerCase();
  const last = LAST_WORD.exec(words)?.[0];
  return last !== undefined && !DESCRIPTION.test(words.slice(last.length));
}

/** Variables, templates, types and masked text, which are not secrets. */
const PLACEHOLDER = new RegExp(
  '^(?:[^\\s:]*:)?(?:\\\\?\\$|%\\w+%|[<{}]|\\[masked|\\*+$|x+$|\\.{3}|…|id=|process\\.env' +
    '|os\\.(?:environ|getenv)|import\\.meta|(?:null|none|nil|undefined|true|false|str|string|bytes' +
    '|number|bool|boolean|any|unknown|required|optional|redacted|hidden|inherit|yes|no|on|off|ok)' +
    '[?;,.]?$)',
  'i',
);

/** The signs between a name and its value. */
const SIGNS = [
  // A block in YAML, and an element in XML.
  '["\']?:[ \\t]*[|>][-+\\d]{0,2}[ \\t]*\\n[ \\t]+|>(?<=<[\\w.:-]{1,80}>)',
  // An assignment in a shell, a command or an address.
  '(?:\\\\?["\'])?(?<shell>[?+]?=)(?![=>:?~ \\t])',
  // An assignment, a field or a header, which code and sentences write too.
  '(?:\\\\?["\'])?\\]?(?<loose>[ \\t]*(?::=|=>|[?+]?=(?![=>:?~])|:(?![-+=>:/?]))[ \\t]*)',
  // A variable of a container: the name in one line and the value in the next.
  '\\\\?["\']?(?:,\\s{0,40}|\\s{1,40})\\\\?["\']?-?value\\\\?["\']?\\s{0,4}[:= ]\\s{0,4}',
  // A password in SQL, and the argument of a function such as `setPassword`.
  '(?<=\\bpassword)(?: for \\S{1,80})?\\s*[\\s(=]\\s*(?=\\\\?["\'])|\\((?<=\\b(?:set|with)_?\\w{1,80}\\()(?=["\'])',
  // A sentence, and the arguments of a function.
  '[ \\t]+(?<verb>is|was|to)[ \\t]+|(?<list>["\'],[ \\t]*(?=["\']))',
  // An option, which Java and Go write with one dash, or the argument of a command.
  '(?<blank>[ \\t]+(?!-))',
].join('|');
/** Words of a header before the value. */
const SCHEMES =
  'Bearer|Basic|Token|Api-?Key|Negotiate|NTLM|GenieKey|Splunk|Bot|OAuth|Digest|Hawk|Signature|AWS4\\S+';
const SCHEME = `(?<scheme>["'\`]?(?:${SCHEMES}))|[a-z][\\w-]{1,30}(?=[ \\t]+[^\\s"']*\\d[^\\s"']*["'])`;
/** Each name of a secret has one of these, which spares the others a match. */
const HINT = 'pass|pw|ps(?:k|wd)|pat|pin|cred|secret|key|token|auth|sonar';
const NAMED = new RegExp(
  `(?<![\\w.-])(?<name>(?:(?:api|pragma) )?(?=[\\w.-]*?(?:${HINT}))[.-]{0,2}\\w[\\w.-]*)(?![\\w.-])(?:${SIGNS})`,
  'gi',
);
const valueOf = (bare: string): RegExp =>
  new RegExp(
    `(?:(?:${SCHEME})[ \\t]+|(?!["'\`]?(?:${SCHEMES})[ \\t]))` +
      `(?:(?<quote>\\\\?["'\`])(?!\\s)(?<quoted>(?:(?!\\k<quote>)(?:\\\\.|[^\\n]))+)|(?<bare>${bare}+))`,
    'iy',
  );
const VALUE = valueOf('[^\\s"\'`&;|<>,(){}[\\]]');
const ARGUMENT = valueOf('[^\\s"\'`;|&]');

/** Returns the values of names that say that they hold a secret. */
function namedSecrets(text: string): Span[] {
  const found: Span[] = [];
  let end = 0;
  for (const { 0: whole, index, groups = {} } of text.matchAll(NAMED)) {
    const pattern = groups['blank'] === undefined ? VALUE : ARGUMENT;
    pattern.lastIndex = index + whole.length;
    const isNew = index >= end && isSecretName(groups['name'] ?? '');
    const value = isNew ? pattern.exec(text)?.groups : undefined;
    if (value !== undefined) {
      const to = pattern.lastIndex;
      const { quoted = '', bare: secret = quoted } = value;
      const from = to - secret.length;
      const before = text.slice(Math.max(0, from - 200), from);
      if (isValue({ ...groups, ...value }, secret, before, text.slice(to, to + 80))) {
        found.push([from, to]);
      }
      // JSON is read again.
      end = secret.startsWith('{') ? end : to;
    }
  }
  return found;
}

const PATH = /^(?:(?:~|\.{1,2})\/|\/[A-Za-z]{2,}(?:\/|$)|[A-Z]:\\)/;
const MEMBER = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+$/;
const LINE_END = /^["'`;,)}\]]{0,3}[ \t]*(?:\n|$|#|\/\/)/;
/** A person has to read the name of a secret that is shown or deleted. */
const NAMES_SECRET =
  /\b(?:(?:delete|destroy|remove|revoke|rm)\b.*|(?:access|describe|get|show)\b.*secret[= ])$/;
const OPENS_HEADER = /(?:-H|--headers?)[ =]?["'][\w-]+\s*[:=]\s*$/;
/** These commands take a name and its value as words. */
const SETS_SECRET = new RegExp(
  '\\b(?:(?:config\\w*|secrets?|variables?|env|npm)[ :](?:set|add|put)|git config|setx|setenv' +
    '|set -\\w+|ENV|nmcli|mysqladmin|wpa_cli|pdftk' +
    '|(?:redis-cli|valkey-cli|etcdctl|consul|rclone) .*(?:set|SET|put|create|password))\\b.*$',
);

/** In code, an expression follows the sign; in a sentence, further words do. */
function isValue(
  { name = '', shell, loose, verb, list, blank, scheme, quote }: Record<string, string | undefined>,
  secret: string,
  before: string,
  after: string,
): boolean {
  const isMixed = secret.length >= 7 && /\d/.test(secret);
  const isShown = /^(?:[a-z]+(?:[/-][a-z]+)*|[A-Z]+)$/.test(secret) && NAMES_SECRET.test(before);
  if (PATH.test(secret) || isShown) {
    return false;
  }
  if (blank !== undefined) {
    return name.startsWith('-') || SETS_SECRET.test(before);
  }
  if (list !== undefined || (verb !== undefined && quote === undefined)) {
    return isMixed;
  }
  if (quote !== undefined || scheme !== undefined || (shell ?? loose) === undefined) {
    // A shell runs the command between backticks to get the value.
    return quote !== '`' || shell === undefined;
  }
  const isExpression = /^[([{]/.test(after) || loose?.includes('=>') === true;
  if (isExpression || shell !== undefined) {
    return !isExpression;
  }
  const isTally = /^pass$/i.test(name) && /^\d{1,5}$/.test(secret);
  // A random secret may hold a dot too.
  const isMember = MEMBER.test(secret) && !/\d.*[A-Z]|[A-Z].*\d/.test(secret);
  // Without a blank, a colon also joins the words of one name: `credentials:edit`.
  const isLast = loose !== ':' && LINE_END.test(after);
  const isHeader = /^["']/.test(after) && OPENS_HEADER.test(before);
  return !isTally && !isMember && (isMixed || isLast || isHeader);
}

/** Prefixes of tokens that their issuers document for secret scanning. */
const PREFIXES = [
  // Code hosts and registries.
  'gh[pousr]_|github_pat_|gl(?:pat|oas|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct)-|ATBB|dckr_[po]at_',
  // Clouds, databases and tools.
  'A[KS]IA|AIza|ya29\\.|GOCSPX-|do[opr]_v1_|dapi|hv[sbr]\\.|ops_eyJ|pscale_(?:tkn|pw|oauth)_|sbp_',
  'NRAK-|dp\\.(?:pt|st|ct|sa|scim|audit)\\.|PMAK-',
  // Messages, payments and models.
  'xox[abeoprs]-|xapp-\\d-|SG\\.|[rs]k_(?:live|test)_|sq0(?:atp|csp)-|shp(?:at|ca|pa|ss)_',
  'sk-(?:ant|proj|svcacct|admin|or)-',
].join('|');
/** These prefixes also begin words and names. */
const WORDS =
  'npm_|pypi-|rubygems_|lin_api_|gsk_|xai-|pplx-|hf_|sk-|key-|SK|AGE-SECRET-KEY-|gatekey|GATEKEY';

/** Forms of tokens, each in a group. */
const TOKENS = [
  `(?<!\\w)(?<token>(?:${PREFIXES})(?=[\\w.-]{0,99}\\d)[\\w.-]{16,})`,
  `(?<!\\w)(?<token>(?:${WORDS})(?=[A-Za-z]{0,60}\\d)[A-Za-z\\d]{20,}[\\w-]*)`,
  '(?<!\\w)(?<token>(?:whsec_|gl(?:sa|c)_|ATATT3)[\\w+/=-]{24,}|eyJ[\\w-]{8,}(?:\\.[\\w-]*){2,4})',
  '(?<!\\w)(?<token>\\d{8,10}:AA[\\w-]{33}|s\\.[A-Za-z\\d]{24}(?!\\w)|[\\da-f]{32}-us\\d{1,2})',
  '(?<!\\w)(?<token>[A-Za-z\\d]{14}\\.atlasv1\\.[\\w-]{60,})',
  'hooks\\.slack\\.com/(?:services|workflows|triggers)/(?<path>[\\w/-]{20,})',
  'discord(?:app)?\\.com/api/webhooks/\\d{5,25}/(?<path>[\\w-]{20,})',
  'Expo(?:nent)?PushToken\\[(?<token>[^\\]\\s]{8,200})(?=\\])',
].map((form) => new RegExp(form, 'g'));

/** Surroundings of secrets, each of which ends with a group: the secret. */
const FORMS: readonly RegExp[] = [
  /-----BEGIN [A-Z\d ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?<key>.+?)(?=-----END [A-Z\d ]{0,40}|$)/gs,
  /\bPrivate-Lines: \d+\s+(?<key>[\w+/=\s]+)/g,
  // Without a password, the text before the @ is a token with http, else a user name.
  /:\/\/(?<user>(?:(?<=https?:\/\/)|[^\s/?#"'<>`:]{0,200}:)[^\s/?#"'<>`]{1,300})(?=@[\w[$])/gi,
  /\bauthorization["']?\s*[:=,]\s*["'`]?(?:Digest|Hawk|Signature|AWS4-HMAC-SHA256)\s+(?<parameters>[^\n`]*[^\s"'`])/gi,
  /\bBearer\s+(?<token>(?=[^\s\d]{0,200}\d)[\w.~+/=-]{16,})/gi,
  /\b(?:set-)?cookie:\s*(?<cookie>[\w!#$%&*.^|~-]{1,100}=[^\n"'`]+)/gi,
  /\bidentified\s+(?:with\s+\S{1,60}\s+)?(?:by|as)\s+(?:password\s+)?(?:\\?["']|(?=\D{0,200}\d))(?<value>[^\s'"`\\;(]+)/gi,
  // A function of MongoDB's shell and of Python, and data sources of Oracle.
  /(?:\bauth=?|UserPassword|set_password)\((?:\s*["'][^"'\n]+["'],){1,2}\s*["'](?<argument>[^"'\n]+)/g,
  /:thin:[^\s/]{1,100}\/(?<password>[^\s@]{1,200})(?=@)/g,
  // Other variables whose name ends in KEY hold a secret if their value looks like one.
  /\b(?![A-Z_]*(?:PUBLIC|PRIMARY|CACHE|SORT|PARTITION|FOREIGN))[A-Z][A-Z\d_]{0,60}_KEY=["']?(?<key>(?=\S{0,200}\d)[\w+/=.-]{16,})/g,
  /\blogin\s+\S{1,200}\s+password\s+(?<password>\S+)/g,
  /[?&](?:sig|signature|x-(?:amz|goog)-signature|code)=(?<signature>[\w%.~+/=-]{8,})/gi,
];

/** Most texts match no hint and skip the rules, whose compilation takes longer than their use. */
const RULES: readonly (readonly [hint: RegExp, find: (text: string) => Span[]])[] = [
  [new RegExp(HINT, 'i'), namedSecrets],
  [/[:=(]|-----|bearer|login|identified/i, (text) => formedSecrets(text, FORMS)],
  [/\S{16}/, (text) => formedSecrets(text, TOKENS)],
  [/\s/, commandSecrets],
];
