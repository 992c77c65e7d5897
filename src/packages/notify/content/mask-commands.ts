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
 * Programs that take a secret under a name that does not say so, and the ways through their words to
 * it. A way is a list of words: expressions that a word matches, `_` for any word, and last the
 * secret: flags, whose value it is; `*`, the next word that is no flag; `$`, the last word; or `=`,
 * the value of each `key=value`. After `…` is what comes before the secret within the word.
 */
const SECRET_ARGUMENTS: readonly (readonly [programs: string, ...ways: string[]])[] = [
  ['curl etcdctl skopeo', '-u|-\\w+u|-U|-E|--user|--proxy-user|--cert|--\\S*creds …:'],
  ['curl', '-u|--user …(?<=[\\s=]["\']?)(?=\\w{12,}:["\']?(?:\\s|$))', '--oauth2-bearer'],
  ['curl', '-b|--cookie …='],
  ['http https xh ab', '-a|-A|--auth …:', '\\S*bearer -a|--auth'],
  ['java jenkins-cli splunk sqlmap ngrok dig nsupdate', '-auth|--auth-cred|--basic-auth|-y …:'],
  ['lftp smbclient rpcclient', '-u …,', '-U …%'],
  ['sqlplus expdp impdp rman', '* …\\w/'],
  ['mysql mysqldump mysqladmin mysqlimport mysqlcheck mysqlpump mysqlsh mycli', '-p(?=\\S)'],
  ['mariadb mariadb-dump mariadb-admin 7z 7za 7zr rar unrar', '-p(?=\\S)'],
  ['rar unrar', '-hp(?=\\S)'],
  ['mongo mongosh mongodump mongorestore mongoexport mongoimport cqlsh cypher-shell beeline', '-p'],
  ['sshpass twine evil-winrm useradd usermod supabase psexec rdesktop racadm veracrypt', '-p'],
  ['altool ncftp ncftpput ncftpget elasticsearch-users yt-dlp youtube-dl smbmap netexec nxc', '-p'],
  ['docker podman nerdctl buildah oras helm kubectl oc cf skopeo', 'login -p'],
  ['helm kubectl oc act', '--from-literal|-s …=', '--set|--set-string …secrets?\\.[^=]*='],
  ['az aws', 'login|acr|sql|mysql|postgres|user -p', 'secret|put-parameter --value', '--sse-c-key'],
  ['dotnet nuget', 'nuget|sources? -p', 'push -k', 'user-secrets set _ *', 'set[aA]pi[kK]ey *'],
  ['security', '(?:unlock|create)-keychain -p', 'add-\\w+-password -w'],
  ['sqlcmd bcp osql tsql isql freebcp ipmitool zip unzip mosquitto_pub mosquitto_sub', '-P'],
  ['ssh-keygen qpdf', '-P|-N|--encrypt'],
  ['redis-cli valkey-cli', '-a', 'auth|AUTH $', 'acl|ACL \\\\?>(?=\\S)'],
  ['ldapsearch ldapmodify ldapadd ldapdelete ldapwhoami ldapcompare ldapmodrdn ldapexop', '-w'],
  ['ldappasswd', '-w|-a|-s'],
  ['kadmin kadmin.local plink pscp psftp putty', '-w|-pw'],
  ['snmpget snmpset snmpwalk snmpbulkwalk', '-A|-X|-c'],
  ['swaks sendemail sendEmail xfreerdp xfreerdp3 cmdkey schtasks signtool', '-ap|-xp|/p|/pass|/rp'],
  ['net reg', 'user _ * …(?<=\\s)(?!/)', 'use _ _ * …(?<=\\s)(?!/)', 'add \\S*[Pp]assword\\S* /d'],
  ['secret secrets user-secrets variable variables', '(?:set|put|add) ='],
  ['gh glab', 'secret set -b|--body', 'variable set --value|-v'],
  ['glab sst', '(?:variable|secret) set _ *'],
  ['netlify ntl eas', '--auth', 'env:set _ *', '(?:secret|env):create --value'],
  ['doctl influx rancher codecov gitlab-runner', '-t', 'register -r'],
  ['gem npm yarn pnpm', 'push --key|-k', '--otp'],
  ['openssl', '-pass|-passin|-passout|-password …pass:', '-hmac|-[kK]', 'passwd $'],
  ['vault nomad', 'put|patch|write =', 'unwrap|unseal *', 'login * …(?<=[\\s"\'])(?!\\S*=)'],
  ['bw rclone mc', 'unlock|obscure *', 'login _ *', '(?:alias|user|host) (?:set|add) $'],
  ['wpa_passphrase radtest', '_ *'],
  ['rabbitmqadmin rabbitmqctl', '-p', 'add_user|change_password|authenticate_user _ *'],
  ['virsh b2 keyctl', 'secret-set-value|authorize(?:[-_]account)? _ *', 'add _ _ *'],
  ['db2 snyk cargo cloudflared', 'using|auth|login *', 'service install *'],
  ['ngrok grafana grafana-cli', '(?:add-)?authtoken|reset-admin-password *'],
  ['adb xdotool ydotool pm2', 'text|type|link *'],
  ['bundle ansible-vault', 'config \\S+\\.\\S+ *', 'encrypt_string *'],
  ['htpasswd mosquitto_passwd pulumi chamber', '-\\w*b\\w*|--secret|write $'],
  ['poetry composer cf', '(?:http-basic|pypi-token|github-oauth|gitlab-token|bearer|auth)\\S* $'],
  ['mkpasswd ConvertTo-SecureString oathtool', '$'],
];

/** A command of this form reads a secret from its standard input. */
const READER =
  '(?:(?<![^|\\s:._-])(?:secrets?|password|\\w{0,20}passwd|passphrase|token|credentials?' +
  '|luks\\w{1,20}|age|gpg|wg|kinit|signin|login|unlock)(?![^\\s:._"\'|&;()-])' +
  '|\\bsudo\\s+-S|\\bpass\\s+insert|\\benv\\s+add)';
/** A file of this name holds a secret. */
const FILE =
  '\\S{0,200}?(?:pass|password|passwd|passphrase|secret|token|credential|netrc)s?(?:\\.\\w+)?["\']?(?![^\\s|&;])';
const REST = '[^|&;()<>`\\n]';
const GIVEN = '["\']?(?<secret>(?<=")[^"]+(?=")|(?<=\')[^\']+(?=\')|[^\\s"\'|&;()<>`]+)';
const TAKES_SECRET = `["']? *(?:\\|(?! *\\w*grep)${REST}{0,400}?${READER}|(?:>{1,2}|\\| *tee) *${FILE})`;
/** Secrets are fed to commands, or written to files. */
const FED_SECRETS = [
  `(?<![\\w-])(?:echo|printf|yes) (?:${REST}{0,400} )??${GIVEN}(?=${TAKES_SECRET})`,
  `<<<(?<=${READER}${REST}{0,400}<<<) *${GIVEN}`,
].map((form) => new RegExp(form, 'g'));

const NO_FLAG = '["\']?[^-\\s]\\S*';
/** The last step of a way, up to the secret. */
const LAST: Readonly<Record<string, string>> = {
  '*': '^(?: +--name +\\S+| +-\\S*)* +(?!-)',
  $: ` +(?=${NO_FLAG}(?: +-\\S*)*$)`,
  '=': ' +["\']?[\\w.:/-]+=(?!@)',
};

/** The value of a short flag may be attached; other flags take it after a blank or a sign. */
function flagOf(flag: string): string {
  const sign = /^-\w$/.test(flag) ? '(?:=| +(?!-))?' : '(?:[=:]| +(?!-))';
  return flag.endsWith(')') ? flag : `${flag}${sign}`;
}

function wayOf(way: string): Readonly<Record<'path' | 'form', RegExp>> {
  const [words = '', before] = way.split(' …');
  const steps = words.split(' ');
  const last = steps.pop() ?? '';
  const flags = ` +["']?(?:${last.split('|').map(flagOf).join('|')})`;
  const path = steps.map((step) => (step === '_' ? NO_FLAG : `["']?(?:${step})["']?`));
  // A quote may also begin after a flag or a sign: `--from-literal=pin="secret"`.
  const start = before === undefined ? '' : `\\S*?(?:${before})["']?`;
  return {
    path: new RegExp(`^${path.map((step) => `(?: +\\S+)*? +${step}(?= |$)`).join('')}`),
    form: new RegExp(
      `${LAST[last] ?? flags}\\\\?["']?${start}(?<secret>\\S+?)(?=\\\\?["']?(?: |$))`,
      'g',
    ),
  };
}

const WAYS = new Map<string, ReturnType<typeof wayOf>[]>();
for (const [programs, ...ways] of SECRET_ARGUMENTS) {
  const forms = ways.map(wayOf);
  for (const program of programs.split(' ').flatMap((name) => [name, `${name}.exe`])) {
    WAYS.set(program, [...(WAYS.get(program) ?? []), ...forms]);
  }
}
const PROGRAM = /(?<![\w.-])\w[\w.-]*/g;
const QUOTED = '"[^"\\\\]*(?:\\\\[^][^"\\\\]*)*"|\'[^\']*\'|\\\\.';
/**
 * So many words after a program may belong to it, which bounds the work for any text. A quote that
 * is not closed ends the command, which may itself be quoted: `bash -c '…'`.
 */
const ARGUMENTS = new RegExp(
  `["']?(?:(?:[ \\t]|\\\\\\n)+(?:${QUOTED}|[^\\s"'\\\\|&;()<>\`]+)+){1,60}`,
  'y',
);
/** A blank in another form, or a part of a word with quotes. */
const PART = new RegExp(`\\\\\\n|\\t|${QUOTED}`, 'g');

/** Returns the secrets that the commands of a text take as arguments, and those fed to them. */
export function commandSecrets(text: string): Span[] {
  const found = formedSecrets(text, FED_SECRETS);
  for (const { 0: program, index } of text.matchAll(PROGRAM)) {
    const ways = WAYS.get(program) ?? [];
    ARGUMENTS.lastIndex = index + program.length;
    const words = ways.length === 0 ? '' : (ARGUMENTS.exec(text)?.[0] ?? '');
    // The only blanks that stay are those between words.
    const plain = words.replace(PART, (part) =>
      /^\\?\s/.test(part) ? ' '.repeat(part.length) : part.replace(/\s/g, '\0'),
    );
    for (const { path, form } of ways) {
      const start = path.exec(plain)?.[0].length ?? plain.length;
      found.push(...formedSecrets(plain.slice(start), [form], index + program.length + start));
    }
  }
  return found;
}
