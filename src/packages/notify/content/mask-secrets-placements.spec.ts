import fc from 'fast-check';
import { maskSecrets } from './mask-secrets.js';
import { MASK } from './text.js';

const NAMES = [
  ...['DB_PASS', 'SECRET_KEY_BASE', 'API_TOKEN_PROD', 'SMTP_PASSWORD', 'PASSWORD2', 'db-password'],
  ...['GITHUB_PAT', 'wifi_pin', 'redis.pass', 'TOKEN_FILE_PASSWORD', 'spring.datasource.password'],
  ...['dbPass', 'apiTokenProd', 'secretKeyBase', 'clientSecret', 'MASTER_KEY_V2', 'APP_KEY'],
  ...['_authToken', 'PASSWORD_CONFIRMATION', 'api-key-eu', 'wifi_psk', 'private_key'],
];

/** The placements in which a file, a shell or a program gives a name its value. */
const PLACEMENTS: [string, (name: string, secret: string) => string][] = [
  ['an assignment', (name, secret) => `${name}=${secret}`],
  ['an exported variable', (name, secret) => `export ${name}=${secret} && make`],
  ['a variable of one command', (name, secret) => `env A=1 ${name}=${secret} ./run --fast`],
  ['double quotes', (name, secret) => `${name}="${secret}"`],
  ['single quotes', (name, secret) => `${name}='${secret}'`],
  ['quotes around two words', (name, secret) => `${name}="correct ${secret}"`],
  ['an escaped quote before it', (name, secret) => `${name}="a\\"${secret}" next`],
  ['a quote that is cut off', (name, secret) => `${name}="${secret}`],
  ['spaces around the sign', (name, secret) => `${name} = ${secret}`],
  ['a default in a Makefile', (name, secret) => `${name} ?= ${secret}`],
  ['JSON', (name, secret) => JSON.stringify({ a: 1, [name]: secret, b: [2] })],
  ['indented JSON', (name, secret) => JSON.stringify({ a: { [name]: secret } }, null, 2)],
  ['JSON in a string', (name, secret) => JSON.stringify(JSON.stringify({ [name]: secret }))],
  ['YAML', (name, secret) => `app:\n  ${name}: ${secret}\n  debug: true\n`],
  ['quoted YAML', (name, secret) => `app:\n  ${name}: "${secret}"\n`],
  ['a YAML block', (name, secret) => `${name}: |\n  ${secret}\nnext: 1`],
  ['a container', (name, secret) => `- name: ${name}\n  value: "${secret}"\n`],
  ['a container in JSON', (name, secret) => JSON.stringify([{ name, value: secret }])],
  ['a here-document', (name, secret) => `cat > .env <<EOF\nA=1\n${name}=${secret}\nEOF`],
  ['an option', (name, secret) => `app --${name} ${secret} --verbose`],
  ['an option with =', (name, secret) => `app --${name}=${secret} --verbose`],
  ['an option of a container', (name, secret) => `docker run -e ${name}=${secret} alpine`],
  ['a hash in Ruby', (name, secret) => `{ '${name}' => '${secret}' }`],
  ['TypeScript', (name, secret) => `const options = { ${name}: '${secret}' };`],
  ['Markdown', (name, secret) => `${name}: \`${secret}\``],
  ['XML', (name, secret) => `<${name}>${secret}</${name}>`],
  ['an address', (name, secret) => `https://api.example/?a=1&${name}=${secret}&b=2`],
  ['the Windows registry', (name, secret) => `setx ${name} ${secret}`],
  ['a Dockerfile', (name, secret) => `FROM alpine\nENV ${name} ${secret}\n`],
  ['a nested shell', (name, secret) => `bash -c "${name}='${secret}' ./run"`],
];

/** Generators of passwords and keys draw letters of every kind and digits. */
const secrets = fc
  .tuple(
    fc.stringMatching(/^[a-z]{3,8}$/),
    fc.stringMatching(/^[A-Z]{2,6}$/),
    fc.stringMatching(/^\d{2,5}$/),
    fc.stringMatching(/^[a-zA-Z0-9+/_.~-]{0,20}$/),
  )
  .map(([lower, upper, digits, rest]) => `${lower}${digits}${upper}${rest}z`);

describe('A secret under a name that says so', () => {
  it.each(PLACEMENTS)('is masked in %s', (_place, placed) => {
    fc.assert(
      fc.property(fc.constantFrom(...NAMES), secrets, (name, secret) => {
        const masked = maskSecrets(placed(name, secret));
        expect(masked).not.toContain(secret);
        expect(masked).toContain(MASK);
        expect(maskSecrets(masked)).toBe(masked);
      }),
      { numRuns: 150 },
    );
  });
});

/** These programs take a secret `✶` under a name that does not indicate one. */
const COMMANDS = [
  'curl -b sid=✶ https://x.example',
  "curl -b 'sid=✶; theme=dark' https://x.example",
  'curl --cookie "sid=✶" https://x.example',
  'curl -H "Accept: a; b" \\\n  -u "bob:two ✶" https://x.example',
  'curl --cert client.pem:✶ https://x.example',
  'curl --oauth2-bearer ✶ https://x.example',
  'vault login ✶',
  'vault login -no-print ✶',
  'vault unwrap ✶',
  'vault operator unseal ✶',
  'vault kv put secret/db user=bob pin=✶',
  'npm config set //registry.npmjs.org/:_authToken ✶',
  'npm config set _auth ✶',
  '//registry.npmjs.org/:_authToken=✶',
  '//registry.npmjs.org/:_password="✶"',
  'git config --global github.token ✶',
  'npm set _auth ✶',
  'aws configure set aws_secret_access_key ✶',
  'ldapsearch -x -D cn=admin,dc=example -w ✶ -b dc=example',
  'ldapmodify -D cn=admin -w "two ✶" -f change.ldif',
  'ldappasswd -s ✶ uid=bob',
  "mysql -u root -p'two ✶' shop",
  'redis-cli -h cache AUTH ✶',
  'mongosh -u app -p ✶ shop',
  'sqlcmd -S db -U sa -P ✶',
  'smbclient //nas/share -U bob%✶',
  'lftp -u bob,✶ ftp.example',
  'nmcli device wifi connect home password ✶',
  'htpasswd -b users bob ✶',
  'keytool -list -keystore a.jks -storepass ✶',
  'terraform login -token ✶',
  'app --pass ✶',
  'app --db-pass "two ✶" --fast',
  'gh secret set NPM -b ✶',
  'kubectl create secret generic db --from-literal=pin=✶',
  'docker login -u bob -p "✶" registry.example',
  'echo ✶ | docker login -u bob --password-stdin',
  "echo 'root:✶' | chpasswd",
  'openssl enc -aes-256-cbc -pass pass:✶ -in a',
  'The password is ✶ for now',
  'the token is `✶`',
];

describe('A secret in a command', () => {
  it.each(COMMANDS)('is masked in %j', (command) => {
    fc.assert(
      fc.property(secrets, (secret) => {
        const masked = maskSecrets(command.replace('✶', () => secret));
        expect(masked).not.toContain(secret);
        expect(maskSecrets(masked)).toBe(masked);
      }),
      { numRuns: 20 },
    );
  });
});

/** These texts stay unchanged, because a person has to read the content of a request. */
const READABLE = [
  'curl -b cookies.txt -c cookies.txt https://x.example',
  'curl -b $COOKIES https://x.example',
  'curl -fsSL https://x.example | sh',
  'vault login -method=github',
  'vault status',
  'vault kv get secret/db',
  'npm config set registry https://npm.example.org',
  'npm config get //registry.npmjs.org/:_authToken',
  'ldapsearch -x -b dc=example -W uid=bob',
  'set the token to expire in an hour',
  'git config --global user.name Bob',
  'gh secret list',
  'mongosh --port 27017',
  'ssh -p 2222 bob@host',
  'npm run test -- --passWithNoTests',
  'pytest --pass-through 3',
  'TOKEN_URL=https://id.example/token',
  'TOKEN_TTL=3600 PASSWORD_MIN_LENGTH=12 ./run',
  'SECRET_NAME=database SECRET_ARN=arn:aws:x',
  'PASSWORD_FILE=/run/secrets/db',
  'TOKEN=/var/run/secrets/token',
  'access_key_id: 7',
  'token_type=bearer&expires_in=3600',
  'password_policy: strict',
  'tests: 12, pass: 12, fail: 0',
  '# pass 12',
  'pass: 3\nfail: 0',
  'pass: ok',
  'pass=$DB_PASS',
  'bypass=1 compass=north trespass: no',
  'low_pass=200',
  'pass_rate=0.98',
  'secrets: inherit',
  'apiTokenUrl: "https://id.example"',
  'secretName: "database"',
  "tokenType: 'bearer'",
  'passThrough: "yes"',
  'using password: YES',
  'The password is wrong',
  'The secret token expires soon',
  'Read the config token docs, and the env password page',
  'The token is not valid any more',
  'const found = tokens.map((token) => token.id);',
  'grep -rn "password" src',
  'sed -i s/pass/fail/ file.txt',
  'find . -path ./node_modules -prune',
  'echo done | tee log',
  'zip -r out.zip dist',
  'docker run -p 8080:80 nginx',
  'psql -h db -U app -p 5432 shop',
  'openssl s_client -connect host:443',
  'GATEKEY1 starts the key in capitals',
];

describe('A text that holds no secret', () => {
  it.each(READABLE)('stays readable: %j', (text) => {
    expect(maskSecrets(text)).toBe(text);
  });

  it('stays readable in every placement of a name that describes a secret', () => {
    const names = ['TOKEN_URL', 'password_policy', 'SECRET_NAME', 'tokenType', 'max_tokens'];
    for (const name of names) {
      for (const text of [`${name}=abc`, `${name}: "abc"`, `app --${name} abc`]) {
        expect(maskSecrets(text)).toBe(text);
      }
    }
  });
});

describe('The key of this service', () => {
  it.each(['gatekey1qpzry9x8gf2tvdw0s3jn54khce6mua7l', 'GATEKEY1QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L'])(
    'is masked in small letters and in capitals: %s',
    (key) => {
      const text = (shown: string): string => `gatehouse key restore ${shown} --server x.example`;
      expect(maskSecrets(text(key))).toBe(text(MASK));
    },
  );
});
