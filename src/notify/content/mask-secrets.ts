import { TOKEN_SHAPES } from './token-shapes.js';

/** What stands in place of a secret. */
export const MASK = '[masked]';

/**
 * A text without the secrets that are known by their form: authorization headers, tokens of
 * well-known shapes, values of names such as `password`, user information in URLs and private keys.
 * A variable or another placeholder stays. Masking twice changes nothing.
 */
export function maskSecrets(text: string): string {
  return RULES.reduce((masked, apply) => apply(masked), text);
}

interface Found {
  readonly secret: string;
  readonly isQuoted: boolean;
  /** What follows the match, up to the end of its line. */
  readonly after: string;
  readonly groups: Readonly<Record<string, string | undefined>>;
}

type Stays = (found: Found) => boolean;

/** Masks the group `secret` (or `double`, `single` within quotes) of every match, unless it `stays`. */
function rule(pattern: RegExp, stays: Stays = isPlaceholder): (text: string) => string {
  // With `d` the engine gives the place of each group: the same characters may stand beside it.
  const placed = new RegExp(pattern, `${pattern.flags}d`);
  return (text) => {
    let masked = '';
    let end = 0;
    for (const match of text.matchAll(placed)) {
      const { groups = {}, indices } = match;
      const name = ['secret', 'double', 'single'].find((one) => groups[one] !== undefined);
      const [from, to] = indices?.groups?.[name ?? ''] ?? [0, 0];
      const after = /^.{0,80}/.exec(text.slice(match.index + match[0].length))?.[0] ?? '';
      const secret = text.slice(from, to);
      if (secret !== '' && !stays({ secret, isQuoted: name !== 'secret', after, groups })) {
        masked += text.slice(end, from) + MASK;
        end = to;
      }
    }
    return masked + text.slice(end);
  };
}

/** Variables, templates, types and what was masked before: none of them is a secret. */
const PLACEHOLDERS = [
  /^(?:\\?\$|%\w+%|<|\{|\[masked|\*+$|x+$|\.{3}|…|process\.env|os\.(?:environ|getenv)|import\.meta)/i,
  /^(?:null|none|nil|undefined|true|false|string|str|bytes|number|boolean|bool|any|unknown|required|optional|redacted|hidden)[?;,.]?$/i,
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
/** Schemes with parameters: the rest of the header. */
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

/** Without a password, what stands before the @ is a token with http, and a name with the others. */
const isUserName: Stays = ({ secret, groups: { scheme = '' } }) => {
  const at = secret.indexOf(':');
  const password = secret.slice(at + 1);
  const isName = at === -1 && !/^https?$/i.test(scheme);
  return isName || password === '' || isPlaceholder({ secret: password });
};

const SECRET_NAME =
  'pass(?:word|wd|phrase|code)|pwd|secret|(?:secret|private|account|storage|encryption|signing|shared|master)[_-]?(?:access[_-]?)?key|api[_-]?key|access[_-]?key|token|credentials?';
const VALUE = `\\\\?"(?<double>[^"\\n]+?)\\\\?"|\\\\?'(?<single>[^'\\n]+?)\\\\?'|(?<secret>[^\\s"'\`&;|<>,(){}[\\]]+)`;
const ASSIGNED = new RegExp(
  `(?<name>${SECRET_NAME})(?:\\\\?["'])?(?<sign>[ \\t]*(?::=|[=:](?![=>:/?]))[ \\t]*)(?:${VALUE})`,
  'gi',
);
const ENDS_LINE = /^[;,)}\]]{0,3}[ \t]*(?:$|#|\/\/)/;
const IS_MEMBER = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+$/;

/** In code, an expression follows the sign; in a sentence, further words do. */
const isNoAssignment: Stays = ({ secret, isQuoted, after, groups: { name = '', sign = '' } }) => {
  const isDirectory = /^pwd$/i.test(name) && /^(?:[/.~]|[A-Z]:\\)/i.test(secret);
  if (isPlaceholder({ secret }) || isDirectory || isQuoted) {
    return isPlaceholder({ secret }) || isDirectory;
  }
  if (/^[([{]/.test(after)) {
    return true;
  }
  const isShell = sign === '=';
  const isMixed = /\d/.test(secret) && /[a-z]/i.test(secret) && secret.length >= 8;
  return !isShell && (IS_MEMBER.test(secret) || !(ENDS_LINE.test(after) || isMixed));
};

const OPTION = new RegExp(
  `(?<![\\w-])--[\\w-]{0,40}?(?:${SECRET_NAME})[ \\t]+(?:"(?<double>[^"\\n]+)"|'(?<single>[^'\\n]+)'|(?<secret>[^\\s"'\`;|&-][^\\s"'\`;|&]*))`,
  'gi',
);

/** Options of programs that take a password under a name of one letter, and files of passwords. */
const PROGRAMS = [
  /\b(?:curl|wget|xh|https?(?= ))\b[^\n|;]{0,400}?\s(?:-u|-a|-U|--user|--proxy-user|--auth)[ =]?["']?[^\s:"'`$]{1,200}:(?<secret>[^\s"'`]+)/g,
  /\bsshpass\s+-p\s*["']?(?<secret>[^\s"'`]+)/g,
  /\b(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump)\b[^\n|;]{0,400}?\s-p["']?(?<secret>[^\s"'`-][^\s"'`]*)/g,
  /\bredis-cli\b[^\n|;]{0,400}?\s-a\s+["']?(?<secret>[^\s"'`]+)/g,
  /\b(?:docker|podman|helm|oras|skopeo|az|oc)\b[^\n|;]{0,100}?\blogin\b[^\n|;]{0,400}?\s-p[ =]?["']?(?<secret>[^\s"'`]+)/g,
  /\s-pass(?:in|out)?\s+pass:(?<secret>[^\s"'`]+)/g,
  /\blogin\s+\S{1,200}\s+password\s+(?<secret>\S+)/g,
  /[?&](?:sig|signature|x-(?:amz|goog)-signature|code)=(?<secret>[\w%.~+/=-]{8,})/gi,
] as const;

/** The longest forms first: what they mask is no part of a shorter one. */
const RULES = [
  rule(PRIVATE_KEY),
  rule(PUTTY_KEY),
  rule(USER_INFORMATION, isUserName),
  ...[CREDENTIALS, PARAMETERS, WITHOUT_SCHEME, COOKIE, BEARER].map((form) => rule(form)),
  ...TOKEN_SHAPES.map((shape) => rule(shape)),
  rule(ASSIGNED, isNoAssignment),
  rule(OPTION),
  ...PROGRAMS.map((pattern) => rule(pattern)),
];
