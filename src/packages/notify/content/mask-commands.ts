/** The place of a secret in a text. */
export type Span = readonly [from: number, to: number];

/** Returns what the only group of each form matched, which is the end of its match. */
export function formedSecrets(text: string, forms: readonly RegExp[], offset = 0): Span[] {
  return forms.flatMap((form) =>
    Array.from(text.matchAll(form), ({ 0: whole, index, groups = {} }) => {
      const to = offset + index + whole.length;
      return [to - Object.values(groups).join('').length, to];
    }),
  );
}

/**
 * Programs and their commands that take a secret under a name that does not say so, and the ways
 * through their words to it. A way is a list of words: expressions that a word matches, `_` for any
 * word that is no flag, and last the secret: flags, whose value it is, or `*`, the next word that is
 * no flag. After `…` is what comes before the secret within the word.
 */
const SECRET_ARGUMENTS: readonly (readonly [programs: string, ...ways: string[]])[] = [
  ['curl', '-u|-\\w+u|-U|-E|--(?:proxy-)?user|--cert …:', '-b|--cookie …=', '--oauth2-bearer'],
  ['http https xh skopeo etcdctl', '-a|--auth|--user|--\\S*creds …:', '\\S*bearer -a|--auth'],
  ['lftp smbclient', '-[uU] …[,%]'],
  ['login security twine mongo mongosh mongodump mongorestore cqlsh useradd usermod', '--?p'],
  ['sshpass supabase evil-winrm altool mongoimport mongoexport cypher-shell beeline yt-dlp', '-p'],
  ['mysql mysqldump mysqladmin mysqlimport mysqlcheck mariadb mariadb-dump 7z 7za', '-p(?=\\S)'],
  ['sqlcmd bcp tsql zip unzip ssh-keygen mosquitto_pub mosquitto_sub ipmitool', '-P|-N'],
  ['ldapsearch ldapmodify ldapadd ldappasswd plink kadmin add-generic-password', '-p?w'],
  ['swaks sendemail xfreerdp signtool cmdkey schtasks', '-[ax]p|/p|/pass|/rp'],
  ['doctl influx codecov rancher gitlab-runner', '-t', 'register -r'],
  ['az', '(?:sql|mysql|postgres|user) -p'],
  ['secret secrets variable put-parameter', 'set|put|add \\w\\S*?=', '-b|--body|--value'],
  ['kubectl oc helm', '--from-literal …=', '--set|--set-string …secrets?\\.[^=]{0,200}='],
  ['dotnet nuget gem', 'sources? -p', 'push --key|-k', 'set _ *', 'set[aA]pi[kK]ey *'],
  ['glab sst netlify', '(?:env:)?set _ *'],
  ['redis-cli valkey-cli', '-a', 'auth|AUTH *', 'acl|ACL \\\\?>(?=\\S)'],
  ['openssl', '-hmac|-[kK]', '-pass\\w* …pass:', 'passwd *'],
  ['vault nomad bw cargo', 'put|patch|write \\w\\S*?=(?!@)', 'login|unlock|unseal|unwrap *'],
  ['cloudflared ngrok snyk adb rclone', 'service install *', 'authtoken|auth|text|obscure *'],
  ['sqlplus', '* …\\w/'],
  ['rabbitmqctl net mc b2', 'add_user|change_password|user|authorize _ *', 'set _ _ _ *'],
  ['ansible-vault grafana-cli', 'encrypt_string(?:\\s--name\\s\\S+)?|reset-admin-password *'],
  ['htpasswd pulumi mosquitto_passwd', '-(?=\\w*n)\\w+|--secret _ *', '-(?=\\w*b)\\w+ _ _ *'],
  ['poetry composer', 'publish -p', '(?:pypi|github|gitlab)-\\S+ *', 'http-basic\\S* _ *'],
  ['ConvertTo-SecureString oathtool mkpasswd', '*'],
];

/** A command of this form reads a secret from its standard input. */
const READER =
  '(?:(?<![^|\\s:._-])(?:secrets?|password|\\w{0,20}passwd|passphrase|token|credentials?' +
  '|luks\\w{1,20}|age|gpg|wg|kinit|signin|login|unlock)(?![^\\s:._"\'|&;()-])' +
  '|\\bsudo\\s+-\\w*S|\\bpass\\s+insert|\\benv\\s+add)';
/** A file of this name holds a secret. */
const FILE =
  '\\S{0,200}?(?:pass(?:w(?:or)?d|phrase)?|secret|token|credential|netrc)s?(?:\\.\\w+)?["\']?(?![^\\s|&;])';
const REST = '[^|&;()<>`\\n]';
const GIVEN = '["\']?(?<secret>(?<=")[^"]+(?=")|(?<=\')[^\']+(?=\')|[^\\s"\'|&;()<>`]+)';
const TAKES_SECRET = `["']? *(?:\\|(?! *\\w*grep)${REST}{0,400}?${READER}|(?:>{1,2}|\\| *(?:sudo )?tee) *${FILE})`;
/** Secrets are fed to commands, or written to files. */
const FED_SECRETS = [
  `(?<![\\w-])(?:echo|printf|yes) (?:${REST}{0,400} )??${GIVEN}(?=${TAKES_SECRET})`,
  `<<<(?<=${READER}${REST}{0,400}<<<) *${GIVEN}`,
].map((form) => new RegExp(form, 'g'));

function wayOf(way: string): Readonly<Record<'path' | 'form', RegExp>> {
  const [words = '', before] = way.replaceAll(' _', ' [^-\\s]\\S*').split(' …');
  const steps = words.split(' ');
  const last = steps.pop() ?? '';
  const path = steps.map((step) => `(?: +\\S+)*? +["']?(?:${step})["']?(?= |$)`).join('');
  // The value of a short flag may follow directly, others follow after a sign or blanks.
  const flags = last
    .replace(/(?<=(?:^|\|)-\w)(?=\||$)/g, '(?:=| +(?!-))?')
    .replace(/(?<=[^|)=?])(?=\||$)/g, '(?:[=:]| +(?!-))');
  const place =
    last === '*' ? '^(?: +-\\S*)* +(?![-/]|(?:username|role)=)' : `(?<! ) +["']?(?:${flags})`;
  // A quote may also begin after a flag or a sign: `--from-literal=pin="secret"`.
  const start = before === undefined ? '' : `\\S*?(?:${before})["']?`;
  return {
    path: new RegExp(`^${path}`),
    form: new RegExp(`${place}\\\\?["']?${start}(?<secret>\\S+?)(?=\\\\?["']?(?: |$))`, 'g'),
  };
}

const WAYS = new Map(
  SECRET_ARGUMENTS.flatMap(([programs, ...ways]) => {
    const forms = ways.map(wayOf);
    return programs.split(' ').map((program) => [program, forms] as const);
  }),
);
const PROGRAM = /(?<![\w.-])(?<program>\w[\w-]*)(?:\.exe)?(?![\w.])/g;
const QUOTED = '"[^"\\\\]*(?:\\\\[^][^"\\\\]*)*"|\'[^\']*\'|\\\\.';
/**
 * So many words after a program may belong to it, which bounds the work for any text. A quote that
 * is not closed ends the command, which may itself be quoted: `bash -c '…'`.
 */
const ARGUMENTS = new RegExp(
  `(?::\\w+)?["']?(?:(?:[ \\t]|\\\\\\n)+(?:${QUOTED}|[^\\s"'\\\\|&;()<>\`]+)+){1,60}`,
  'y',
);
/** A blank in another form, or a part of a word with quotes. */
const PART = new RegExp(`\\\\\\n|\\t|${QUOTED}`, 'g');

/** Returns the secrets that the commands of a text take as arguments, and those fed to them. */
export function commandSecrets(text: string): Span[] {
  const found = formedSecrets(text, FED_SECRETS);
  for (const { 0: whole, index, groups } of text.matchAll(PROGRAM)) {
    const ways = WAYS.get(groups?.['program'] ?? '') ?? [];
    ARGUMENTS.lastIndex = index + whole.length;
    const words = ways.length === 0 ? '' : (ARGUMENTS.exec(text)?.[0] ?? '');
    // The only blanks that stay are those between words.
    const plain = words.replace(PART, (part) =>
      /^\\?\s/.test(part) ? ' '.repeat(part.length) : part.replace(/\s/g, '\0'),
    );
    for (const { path, form } of ways) {
      const start = path.exec(plain)?.[0].length ?? plain.length;
      found.push(...formedSecrets(plain.slice(start), [form], index + whole.length + start));
    }
  }
  return found;
}
