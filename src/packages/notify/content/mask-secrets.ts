import { commandSecrets, formedSecrets, type Span } from './mask-commands.js';
import { MASK } from './text.js';

/** A notification shows at most 16 KiB, and finding the secrets of megabytes takes many seconds. */
const SHOWN_CHARACTERS = 64 * 1024;
/** So much more is read, because a secret of which a part is cut off is not recognised. */
const READ_CHARACTERS = 2 * SHOWN_CHARACTERS;

/** Returns the beginning of a long text with `…`, and any other text whole, by {@link maskSecrets}. */
export function maskShownSecrets(text: string, acts = false): string {
  return text.length <= READ_CHARACTERS
    ? maskSecrets(text, acts)
    : `${maskSecrets(text.slice(0, READ_CHARACTERS), acts, SHOWN_CHARACTERS)}…`;
}

/**
 * Masks secrets of a known form, but no variables and other placeholders. Idempotent.
 * @param acts true for what a person permits: nothing that a shell acts on is masked there, only
 *   single words without blanks and operators, and nothing within a here-document
 * @param shown number of characters of the text that are returned
 */
export function maskSecrets(text: string, acts = false, shown = text.length): string {
  const readable = acts
    ? text.replace(HERE_DOCUMENT, (whole, head: string) => head.padEnd(whole.length, '\n'))
    : text;
  const secrets = RULES.flatMap(([hint, find]) => (hint.test(readable) ? find(readable) : []));
  let masked = '';
  let end = 0;
  for (const [from, to] of secrets.sort(([one], [other]) => one - other)) {
    const secret = text.slice(from, to);
    // Blanks and operators of a shell can hide a further command.
    if (from < shown && !PLACEHOLDER.test(secret) && !(acts && /[\s`$!<>();&|]/.test(secret))) {
      masked += from < end ? '' : text.slice(end, from) + MASK;
      end = Math.max(end, to);
    }
  }
  // The cut may be within a pair of surrogates.
  return masked + text.slice(end, shown).replace(/[\ud800-\udbff]$/, '');
}

const HERE_DOCUMENT =
  /((?<!<)<<-?[ \t]*(?<quote>["']?)(?<word>\w+)\k<quote>[^\n]*(?:\n|$))[^]*?(?:\n[ \t]*\k<word>(?!\w)|$)/g;

/** These count at the end of a longer word too (`dbpassword`), and short ones only as a word. */
const SECRET_WORDS =
  'pass(?:word|wd|phrase|code)|pwd|secret|token|credentials?|mnemonic|sonar_login|(?:_|master)auth$' +
  '|(?<!com|by|tres|over|under|sur|(?:low|high|band)_)pass|(?<![a-z\\d])(?:pw|pswd|psk|pat|pin|otp)' +
  '|(?:secret|private|account|storage|encryption|signing|shared|master|auth|app|deploy|consumer' +
  '|cookie|session|jwt|hmac|license|api|access|pragma|subscription|application)_?(?:access_?)?key';
/** A name with one of these after its secret word describes a secret and does not hold it. */
const DESCRIPTIONS =
  'age|alg\\w*|arn|at|attempts|bytes|cache|cmd|command|count|days|dir\\w*|enabled|endpoint|env' +
  '|expir\\w*|fail\\w*|field|file(?:name)?s?|format|from|hasher|header|helper|hint|hook|hosts?|hours' +
  '|id|in|index|issuer|keys|len\\w*|lifetime|limit|manager|max|min\\w*|mode|name(?:s|space)?|path' +
  '|policy|port|prefix|process|program|provider|rate|ref(?:erence)?|required|role|scopes?|status' +
  '|script|seconds|size|stdin|store|through|timeout|ttl|type|ur[il]|usage|user(?:name)?|version';
const SECRET_NAME = new RegExp(
  `(?<!(?:existing|next|page)_)(?:${SECRET_WORDS})\\d{0,3}(?![a-z\\d])` +
    `(?!.*_(?:${DESCRIPTIONS})(?![a-z\\d]))`,
);

/** Variables, templates, types and masked text, which are not secrets. */
const PLACEHOLDER = new RegExp(
  '^(?:[^\\s:]*:)?(?:\\\\?\\$|%\\w+%|[<{}]|\\[masked|\\*+$|x+$|\\.{3}|…|id=|process\\.env' +
    '|import\\.meta|(?:null|none|nil|undefined|true|false|str(?:ing)?|bytes|number|bool(?:ean)?' +
    '|u?int(?:8|16|32|64|128)(?:_t|array)?|any|unknown|required|optional|redacted|hidden|inherit|yes|no|on|off|ok)[?;,.]?$)',
  'i',
);

/** The signs between a name and its value. */
const SIGNS = [
  // A block in YAML, and an element in XML.
  '["\']?:[ \\t]*[|>][-+\\d]{0,2}[ \\t]*\\n[ \\t]+|>(?<=<[\\w.:-]{1,80}>)(?!["\'`])',
  // A header of a request.
  '(?<=(?:-H|--headers?)[ =]?["\'][\\w-]{1,80}):[ \\t]*',
  // An assignment, a field or a header, which code and sentences write too.
  '(?:\\\\?["\'])?\\]?(?<sign>[ \\t]*(?::=|(?:: ?str(?:ing)? )?[?+]?=(?![=>:?~`])|:(?![-+=>:/?]))[ \\t]*)',
  // A variable of a container: the name in one line and the value in the next.
  '\\\\?["\']?(?:,\\s{0,40}|\\s{1,40})\\\\?["\']?-?value\\\\?["\']?\\s{0,4}[:= ]\\s{0,4}',
  // A password in SQL, the argument of a function such as `setPassword`, and a hash in Ruby.
  '(?<=\\bpassword)(?: for \\S{1,80})?(?:\\s+|\\s*[(=]\\s*)(?=\\\\?["\'])',
  '\\((?<=\\b(?:set|with)_?\\w{1,80}\\()(?=["\'])|["\']?[ \\t]*=>[ \\t]*(?=["\'])',
  // A sentence, and the arguments of a function.
  '[ \\t]+(?<verb>is|was|to)[ \\t]+|(?<list>["\'],[ \\t]*(?=["\']))',
  // An option, which Java and Go write with one dash, or the argument of a command.
  '(?<blank>["\']?[ \\t]+(?!-))',
].join('|');
/** Each name of a secret has one of these, which spares the others a match. */
const HINT = 'pass|pw|ps(?:k|wd)|pat|pin|otp|cred|secret|key|token|auth|mnem|sonar';
const NAMED = new RegExp(
  `(?<![\\w.-])(?<name>(?:(?:api|pragma) )?(?=[\\w.-]*?(?:${HINT}))[.-]{0,2}\\w[\\w.-]*)(?![\\w.-])` +
    `(?:${SIGNS})(?:(?:Bearer|Basic|Token) +)?`,
  'gi',
);
/** A word before a bracket, such as a function in code, is no value. A comma can end an assignment. */
const VALUE =
  /(?<quote>\\?["'`])(?!\s)(?<quoted>(?:(?!\k<quote>)(?:\\.|[^\n]))+)|(?<bare>(?:[^\s"'`&;|<>,(){}[\]]|,(?![\w.-]*[=:])(?=[^\s"'`&;|<>,(){}[\]]))+)(?=[\s"'`&;|<>,)}\]]|$)/y;

const WORD = /[^\s"'`&;|<>,(){}[\]]*/y;

/** Returns the values of names that say that they hold a secret. */
function namedSecrets(text: string): Span[] {
  const found: Span[] = [];
  let end = 0;
  let bracket = 0;
  for (const { 0: whole, index, groups = {} } of text.matchAll(NAMED)) {
    const start = index + whole.length;
    VALUE.lastIndex = start;
    const isNew = index >= end && start >= bracket && isSecretName(groups['name']);
    const value = isNew ? VALUE.exec(text)?.groups : undefined;
    if (isNew && value === undefined) {
      // Nor is a part of the word before a bracket, which may have many names.
      WORD.lastIndex = start;
      WORD.exec(text);
      bracket = WORD.lastIndex;
    }
    if (value !== undefined) {
      const to = VALUE.lastIndex;
      const { quoted = '', bare: secret = quoted } = value;
      const from = to - secret.length;
      if (isValue(text, from, to, { ...groups, ...value })) {
        found.push([from, to]);
      }
      // JSON is read again.
      end = secret.startsWith('{') ? end : to;
    }
  }
  return found;
}

/** Returns true if the words of a name, which begin at case and signs, say that it holds a secret. */
function isSecretName(name = ''): boolean {
  const words = name.slice(-200).replace(/(?<=[a-z\d])(?=[A-Z])|[^A-Za-z\d]+/g, '_');
  return SECRET_NAME.test(words.toLowerCase());
}

const PATH = /^(?:(?:~|\.{1,2})\/|\/[A-Za-z]{2,}(?:\/|$)|[A-Z]:\\)/;
/** A member of an object, or a count. */
const EXPRESSION = /^(?:[A-Za-z_$]+(?:\.[A-Za-z_$]+)+|\d{1,3})$/;
const LINE_END = /^["'`)}\]]{0,3}[ \t]*(?:\n|$|#|\/\/)/;
const NAME = /^(?:[a-z]+(?:[/-](?:[a-z]+|v\d+))*|[A-Z]+)$/;
/** A person has to read the name of a secret that is shown or deleted. */
const NAMES_SECRET =
  /\b(?:(?:delete|destroy|remove|revoke|(?<!-)rm)\b[^;&|\n]*|(?:access|describe|get|show)\b.*secret[= ])$/;
/** These commands take a name and its value as words. */
const SETS_SECRET = new RegExp(
  '\\b(?:(?:config\\w*|CONFIG|secrets?|variables?|env|npm|kv)[ :](?:set|SET|add|put)|setx|setenv' +
    '|git config|(?:nmcli|mysqladmin|rclone|etcdctl) .*|set -\\w+|ENV|machine\\s+\\S+\\s+login\\s+\\S+\\s+)\\b.*$',
);

/** In code, an expression follows the sign; in a sentence, further words do. */
function isValue(
  text: string,
  from: number,
  to: number,
  { name = '', sign, verb, list, blank, quote }: Record<string, string | undefined>,
): boolean {
  const secret = text.slice(from, to);
  const before = text.slice(Math.max(0, from - 200), from);
  const isMixed = secret.length >= 7 && /\d/.test(secret);
  const isName = name.endsWith(secret) || (NAME.test(secret) && NAMES_SECRET.test(before));
  if (isName || PATH.test(secret)) {
    return false;
  }
  if (blank !== undefined) {
    return name.startsWith('-') || SETS_SECRET.test(before);
  }
  if (list !== undefined || (verb !== undefined && quote === undefined)) {
    return isMixed;
  }
  if (quote !== undefined || sign === undefined) {
    return true;
  }
  // Without a blank, a colon also joins the words of one name: `credentials:edit`.
  const isLast = sign !== ':' && LINE_END.test(text.slice(to, to + 80)) && !EXPRESSION.test(secret);
  return /^[?+]?=$/.test(sign) || isMixed || isLast;
}

/** Prefixes of tokens that their issuers document for secret scanning. */
const PREFIXES =
  'gh[pousr]_|github_pat_|gl(?:pat|oas|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct)-|ATBB|dckr_[po]at_' +
  '|A[KS]IA|AIza|ya29\\.|GOCSPX-|do[opr]_v1_|dapi|hv[sbr]\\.|ops_eyJ|pscale_(?:tkn|pw|oauth)_|sbp_' +
  '|xox[abeoprs]-|xapp-\\d-|SG\\.|[rs]k_(?:live|test)_|sq0(?:atp|csp)-|shp(?:at|ca|pa|ss)_|NRAK-' +
  '|sk-(?:ant|proj|svcacct|admin|or)-|dp\\.[a-z]{2,5}\\.|PMAK-|AGE-SECRET-KEY-|gatekey|GATEKEY' +
  // These also begin words and names.
  '|(?:npm_|pypi-|rubygems_|lin_api_|gsk_|xai-|pplx-|hf_|sk-|key-|SK)(?=[A-Za-z\\d]{20})';

/** Surroundings and forms of secrets, each of which ends with a group: the secret. */
const FORMS: readonly RegExp[] = [
  /-----BEGIN [A-Z\d ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?<key>.+?)(?=-----END [A-Z\d ]{0,40}|$)/gs,
  /\bPrivate-Lines: \d+\s+(?<key>[\w+/=\s]+)/g,
  // Without a password, the text before the @ is a token with http, else a user name.
  /:\/\/(?<user>(?:(?<=https?:\/\/)|[^\s/?#"'<>`:]{0,200}:)[^\s/?#"'<>`]{1,300})(?=@[\w[$])/gi,
  new RegExp(
    'authorization\\\\?["\']?[ \\t]*(?:[:=]>?|(?<=["\']),)[ \\t]*\\\\?["\'`]?(?:' +
      '(?:Digest|Hawk|Signature|AWS4-HMAC-SHA256) +(?<parameters>[^\\n`]*[^\\s"\'`])' +
      '|(?:Bearer|Basic|Token) +(?<token>[^\\s"\'`\\\\]+)|(?!(?:Bearer|Basic|Token)\\b)(?:[\\w-]+ +)?' +
      '(?<value>(?=[^\\s\\d]{0,200}\\d)[^\\s"\'`\\\\()[]{7,}|[^\\s"\'`\\\\()[]{1,2000}(?=\\\\?["\'`])))',
    'gi',
  ),
  /\bBearer\s+(?<token>(?=[^\s\d]{0,200}\d)[\w.~+/=-]{16,})/gi,
  /\b(?:set-)?cookie:\s*(?<cookie>[\w!#$%&*.^|~-]{1,100}=[^\n"'`]+)/gi,
  /\bidentified\s+(?:with\s+\S{1,60}\s+)?(?:by|as)\s+(?:password\s+)?(?:\\?["']|(?=\D{0,200}\d))(?<value>[^\s'"`\\;(]+)/gi,
  // A function of MongoDB's shell and of Python.
  /(?:\bauth=?|UserPassword|set_password)\((?:\s*["'][^"'\n]+["'],){1,2}\s*["'](?<argument>[^"'\n]+)/g,
  // Other variables whose name ends in KEY hold a secret if their value looks like one.
  /\b(?![A-Z_]*(?:PUBLIC|PRIMARY|CACHE|SORT|PARTITION|FOREIGN))[A-Z][A-Z\d_]{0,60}_KEY=["']?(?<key>(?=\S{0,200}\d)[\w+/=.-]{16,})/g,
  /[?&](?:sig|signature|x-(?:amz|goog)-signature|code|key)=(?<signature>[\w%.~+/=-]{8,})/gi,
  new RegExp(`(?<!\\w)(?<token>(?:${PREFIXES})(?=[\\w.-]{0,99}\\d)[\\w.-]{16,})`, 'g'),
  /(?<!\w)(?<token>(?:whsec_|gl(?:sa|c)_|ATATT3)[\w+/=-]{24,})/g,
  // The search begins once for all that could be its first part.
  /(?<![\w-])(?=[\w-]+\.[\w-]*\.)(?:[\w-]*?-)?(?<token>eyJ[\w-]{8,}(?:\.[\w-]*){2,4})/g,
  /(?<!\w)(?<token>\d{8,10}:AA[\w-]{33}|[\da-f]{32}-us\d{1,2}|[A-Za-z\d]{14}\.atlasv1\.[\w-]{60,})/g,
  /(?:hooks\.slack\.com|discord(?:app)?\.com\/api\/webhooks)\/(?:[a-z]+|\d{5,25})\/(?<path>[\w/-]{20,})/g,
  /Expo(?:nent)?PushToken\[(?<token>[^\]\s]{8,200})(?=\])/g,
];

/** Most texts match no hint and skip the rules, whose compilation takes longer than their use. */
const RULES: readonly (readonly [hint: RegExp, find: (text: string) => Span[]])[] = [
  [new RegExp(HINT, 'i'), namedSecrets],
  [/\S{16}|[:=(]|-----|identified/i, (text) => formedSecrets(text, FORMS)],
  [/\s/, commandSecrets],
];
