import { maskSecrets, maskShownSecrets } from './mask-secrets.js';
import { MASK } from './text.js';

/** Characters that no issuer uses, in the lengths of tokens, so that no scanner reports them. */
const letters = (length: number): string => 'aB3dE5gH7jK9mN1pQ'.repeat(20).slice(0, length);
const hex = (length: number): string => '0123456789abcdef'.repeat(10).slice(0, length);
const key = (name: string): string =>
  `-----BEGIN ${name}-----\n${letters(64)}\n${letters(30)}==\n-----END ${name}-----`;

/** A text, its secret, and the text that remains. */
const SECRETS: [text: string, secret: string][] = [
  ['curl -H "Authorization: Bearer s3cr3t-v4lue" https://api.example/x', 's3cr3t-v4lue'],
  ["curl -H 'authorization: basic dXNlcjpwYXNz' https://api.example", 'dXNlcjpwYXNz'],
  ['Authorization: token 0123abcd', '0123abcd'],
  ['{"Authorization": "Bearer abcdefgh"}', 'abcdefgh'],
  ["headers = {'Authorization': 'ApiKey q1w2e3'}", 'q1w2e3'],
  ['Proxy-Authorization: Basic YWxhZGRpbg==', 'YWxhZGRpbg=='],
  [
    'Authorization: Digest username="bob", response="6629fae4"',
    'username="bob", response="6629fae4',
  ],
  [
    'Authorization: AWS4-HMAC-SHA256 Credential=AK/20260101/eu, Signature=fe5f80',
    'Credential=AK/20260101/eu, Signature=fe5f80',
  ],
  ['Authorization: 8f14e45fceea167a', '8f14e45fceea167a'],
  ['it sends Bearer abc123def456ghi789 along', 'abc123def456ghi789'],
  ['curl -H "X-Api-Key: k3y-0f-m1ne" https://api.example', 'k3y-0f-m1ne'],
  ['curl --header "PRIVATE-TOKEN: t0k3nt0k3n" https://git.example', 't0k3nt0k3n'],
  ['X-Vault-Token: root', 'root'],
  ['curl -H "X-Vault-Token: correcthorse" https://x.example', 'correcthorse'],
  ['curl -H "Authorization: Splunk correcthorse" https://x.example', 'correcthorse'],
  ['consul kv get -token=correcthorse x', 'correcthorse'],
  [
    'curl -H "Cookie: sid=31d4d96e407aad42; theme=dark" x.example',
    'sid=31d4d96e407aad42; theme=dark',
  ],
  ['Set-Cookie: session=abc.def; HttpOnly', 'session=abc.def; HttpOnly'],
  [`git push https://example.com ghp_${letters(36)}`, `ghp_${letters(36)}`],
  [`GH=gho_${letters(36)} make`, `gho_${letters(36)}`],
  [`github_pat_${letters(22)}_${letters(59)}`, `github_pat_${letters(22)}_${letters(59)}`],
  [`glab auth login -t glpat-${letters(20)}`, `glpat-${letters(20)}`],
  [`echo xoxb-${hex(12)}-${letters(24)} > f`, `xoxb-${hex(12)}-${letters(24)}`],
  [`https://hooks.slack.com/services/T00/B00/${letters(24)}`, `T00/B00/${letters(24)}`],
  [`https://discord.com/api/webhooks/123456789/${letters(68)}`, letters(68)],
  [`bot 123456789:AA${letters(33)}`, `123456789:AA${letters(33)}`],
  ['aws configure set x AKIA2345ABCDEFGHIJKL', 'AKIA2345ABCDEFGHIJKL'],
  [`AIza${letters(35)} is used`, `AIza${letters(35)}`],
  [`ya29.${letters(40)}`, `ya29.${letters(40)}`],
  [`dop_v1_${hex(64)}`, `dop_v1_${hex(64)}`],
  [`hvs.${letters(30)}`, `hvs.${letters(30)}`],
  [`dckr_pat_${letters(27)}`, `dckr_pat_${letters(27)}`],
  [`stripe listen sk_live_${letters(24)}`, `sk_live_${letters(24)}`],
  [`rk_test_${letters(24)}`, `rk_test_${letters(24)}`],
  [`whsec_${letters(32)}=`, `whsec_${letters(32)}=`],
  [`SG.${letters(22)}.${letters(43)}`, `SG.${letters(22)}.${letters(43)}`],
  [`key-${hex(32)}`, `key-${hex(32)}`],
  [`sk-ant-api03-${letters(40)}`, `sk-ant-api03-${letters(40)}`],
  [`sk-proj-${letters(48)}`, `sk-proj-${letters(48)}`],
  [`sk-${letters(48)}`, `sk-${letters(48)}`],
  [`hf_${letters(34)}`, `hf_${letters(34)}`],
  [`npm_${letters(36)}`, `npm_${letters(36)}`],
  [`pypi-${letters(60)}`, `pypi-${letters(60)}`],
  [`eyJhbGciOiJF.eyJzdWIiOiIx.${letters(40)}`, `eyJhbGciOiJF.eyJzdWIiOiIx.${letters(40)}`],
  [`AGE-SECRET-KEY-1${hex(58).toUpperCase()}`, `AGE-SECRET-KEY-1${hex(58).toUpperCase()}`],
  ['to ExponentPushToken[abcdefghijklmnop]', 'abcdefghijklmnop'],
  [
    'gatehouse key restore gatekey1qpzry9x8gf2tvdw0s3jn54khce6mua7l',
    'gatekey1qpzry9x8gf2tvdw0s3jn54khce6mua7l',
  ],
  ['password=hunter2 ./run', 'hunter2'],
  ['PGPASSWORD=hunter2 psql', 'hunter2'],
  ['export DB_PASSWORD="correct horse"', 'correct horse'],
  ["MYSQL_ROOT_PASSWORD='a b c' docker run", 'a b c'],
  ['https://example.com/login?user=bob&password=hunter2&x=1', 'hunter2'],
  ['https://example.com/?access_token=abcdef&page=2', 'abcdef'],
  ['{"password": "hunter2", "user": "bob"}', 'hunter2'],
  ['curl -d "{\\"password\\":\\"hunter2\\"}" x.example', 'hunter2'],
  ['password: hunter2', 'hunter2'],
  ['db:\n  passwd: hunter2 # for tests\n', 'hunter2'],
  ['The password: Tr0ub4dor3 works there', 'Tr0ub4dor3'],
  ['api_key = 12ab34cd', '12ab34cd'],
  ['const apiKey = "12ab34cd";', '12ab34cd'],
  ['CLIENT_SECRET=abc', 'abc'],
  ['aws_secret_access_key = wJalrXUtnFEMI/K7MDENG', 'wJalrXUtnFEMI/K7MDENG'],
  ['AccountName=x;AccountKey=abc+def==;Suffix=y', 'abc+def=='],
  ['app --password hunter2 --verbose', 'hunter2'],
  ['app --db-password "correct horse"', 'correct horse'],
  ['app --token=t0ken run', 't0ken'],
  ['docker run --rm -e DB_PASSWORD=correcthorse alpine', 'correcthorse'],
  ['gh auth --with-token abc123', 'abc123'],
  ['curl -u bob:hunter2 https://example.com', 'hunter2'],
  ['sshpass -p hunter2 ssh host', 'hunter2'],
  ['vault login hunter2', 'hunter2'],
  ['vault login -no-print hunter2', 'hunter2'],
  ['mysql -h db -uroot -phunter2 shop', 'hunter2'],
  ['redis-cli -h cache -a hunter2 ping', 'hunter2'],
  ['docker login -u bob -p hunter2 registry.example', 'hunter2'],
  ['openssl rsa -in key.pem -passin pass:hunter2', 'hunter2'],
  ['machine example.com login bob password hunter2', 'hunter2'],
  ['git clone https://bob:hunter2@example.com/x.git', 'bob:hunter2'],
  ['git clone https://t0ken@example.com/x.git', 't0ken'],
  ['postgres://app:p%40ss@db:5432/app', 'app:p%40ss'],
  ['redis://:hunter2@cache:6379', ':hunter2'],
  ['amqp://u:p@ss@mq/vhost', 'u:p@ss'],
  ['https://s3.example/x?X-Amz-Signature=fe5f80f7&y=1', 'fe5f80f7'],
  [key('PRIVATE KEY'), `\n${letters(64)}\n${letters(30)}==\n`],
  [key('RSA PRIVATE KEY'), `\n${letters(64)}\n${letters(30)}==\n`],
  [key('OPENSSH PRIVATE KEY'), `\n${letters(64)}\n${letters(30)}==\n`],
  [key('PGP PRIVATE KEY BLOCK'), `\n${letters(64)}\n${letters(30)}==\n`],
  ['echo "-----BEGIN EC PRIVATE KEY-----\\nabc', '\\nabc'],
  ['export DB_PASSWORD=hunter,s3cret', 'hunter,s3cret'],
  ['helm install x --set db.password=abc123,image.repository=evil.example/x', 'abc123'],
];

/** Texts that only look like secrets and stay unchanged. */
const LOOK_ALIKES = [
  'curl -H "Authorization: Bearer $TOKEN" https://api.example',
  'curl -H "Authorization: Bearer ${TOKEN}" https://api.example',
  'Authorization: Bearer <token>',
  'The Authorization header is missing',
  'authorization: required for every route',
  'We use Bearer authentication here',
  'Bearer of good news, internationalization',
  'Read about authorization, authentication and accounting',
  'Cookie: banner shown to visitors',
  'const cookie: string',
  'X-Request-Id: 0123456789abcdef',
  'Accept: application/json',
  'git checkout 3f786850e387550fdab836ed7e6dc881de23001b',
  'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '550e8400-e29b-41d4-a716-446655440000',
  'ghp_ is the prefix of GitHub tokens',
  'npm_config_registry=https://npm.example.org',
  'npm_lifecycle_event',
  'hf_hub_download(repo_id)',
  'sk-learn-preprocessing-pipeline-utilities',
  'risk-averse-strategies-for-long-horizons',
  'key-value-store-with-persistence',
  'pypi-publish',
  'xoxo, see you',
  'AKIAxyz is no key id',
  'SG.pdf and SK.pdf',
  'whsec_ starts a secret of Standard Webhooks',
  'eyJ is how a JWT begins',
  'https://docs.slack.com/services',
  'https://discord.com/channels/123/456',
  'integrity sha512-9Ovfw3zJb0y1VQ==',
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAE',
  'password=$PASSWORD ./run',
  'PGPASSWORD="${PGPASSWORD}" psql',
  'export TOKEN=$(cat token.txt)',
  'SECRET=<your secret>',
  'secret={{ .Values.secret }}',
  'if (password == null) return;',
  'if (token === other) {}',
  'password: string;',
  'token: boolean,',
  'token?: string',
  'const password = await readPassword();',
  'const token = getToken(request)',
  'token = request.headers.token;',
  'let secret = process.env.SECRET;',
  'password = os.environ["PASSWORD"]',
  'password=',
  'The password: it must be long',
  'Reset the password, then log in again',
  'Token: the smallest unit of text',
  'app --password-file secrets.txt',
  'app --password-stdin < f',
  'app --token-ttl 3600',
  'max_tokens=4096',
  'tokenizer=bert-base',
  'secretName: database',
  'passwords.txt',
  'primary_key=id',
  'public_key = ssh.pub',
  'sort_key=created',
  'keyboard=us',
  'author=bob',
  'PWD=/srv/app make',
  'OLDPWD=/tmp',
  'password=********',
  'password: [masked]',
  'SERVICE_SECRET=${SERVICE_SECRET:?}',
  'docker run -u 1000:1000 alpine',
  'chown -R 1000:1000 .',
  'curl -u "$USER:$PASSWORD" https://example.com',
  'mysql -h db -u root -p',
  'ssh -p 2222 host',
  'mkdir -p build/out',
  'redis-cli -h cache ping',
  'git clone https://github.com/acme/app.git',
  'git clone git@github.com:acme/app.git',
  'ssh://git@github.com/acme/app.git',
  'https://example.com/@bob/posts',
  'https://example.com/?mail=bob@example.com',
  'mailto:bob@example.com',
  'npm i @scope/name@1.2.3',
  'https://$USER:$PASSWORD@example.com/x',
  'http://localhost:3000/path:8080',
  'https://example.com/?page=2&sort=token',
  key('CERTIFICATE'),
  key('PUBLIC KEY'),
  key('PGP PUBLIC KEY BLOCK'),
  'Paste the private key here',
  'npm test -- --tags auth,token,session',
];

describe(maskSecrets.name, () => {
  it('covers at least 60 secrets, and as many look-alikes', () => {
    expect(SECRETS.length).toBeGreaterThanOrEqual(60);
    expect(LOOK_ALIKES.length).toBeGreaterThanOrEqual(SECRETS.length);
  });

  it.each(SECRETS)('masks only the secret in %j', (text, secret) => {
    const at = text.lastIndexOf(secret);
    const expected = `${text.slice(0, at)}${MASK}${text.slice(at + secret.length)}`;
    expect(maskSecrets(text)).toBe(expected);
    expect(maskSecrets(expected)).toBe(expected);
  });

  it.each(LOOK_ALIKES)('does not change %j', (text) => {
    expect(maskSecrets(text)).toBe(text);
  });

  it('masks every secret of a text', () => {
    const texts = SECRETS.filter(([text]) => !text.includes('-----BEGIN'));
    const masked = maskSecrets(texts.map(([text]) => text).join('\n'));
    texts.forEach(([, secret]) => secret.length > 6 && expect(masked).not.toContain(secret));
  });

  // A quadratic pattern would need hours for a megabyte, and exceed the time limit of every test.
  const PARTS = [
    '-',
    '_',
    'a',
    ' ',
    ':',
    '"',
    '--password',
    '://',
    'curl ',
    'Bearer ',
    'eyJ.',
    '=',
  ];
  const MORE = [
    "'",
    '\\"',
    '`',
    'curl "; ',
    '_PASS',
    'tokenPass',
    'token=',
    'token="',
    'name: token ',
  ];
  it.each([...PARTS, ...MORE, '-----BEGIN PRIVATE KEY-----', 'vault kv put a b='])(
    'takes time in proportion to a text of 300 KB that repeats %j',
    (part) => {
      const masked = maskSecrets(part.repeat(Math.ceil(300_000 / part.length)));
      expect(masked.length).toBeGreaterThan(0);
    },
  );

  it.each(['_', 'a.', '_PASS', 'tokenPass'])(
    'takes time in proportion to a word of 300 KB that repeats %j',
    (part) => {
      const word = part.repeat(Math.ceil(300_000 / part.length));
      const ends = ['', '>x', ' x', '("x")', '="x"', ` | ${word}`, ' <<< x'];
      ends.forEach((end) => expect(maskSecrets(`echo ${word}${end}`)).not.toBe(''));
    },
  );
});

// Quadratic patterns would need an hour for each.
describe(`${maskSecrets.name} of a megabyte`, () => {
  it.each([
    ['password', ' ', 'x'],
    ['curl -u value', '\t', 'x'],
    ['curl', '\\\n', 'x'],
    ['htpasswd -', 'n', '. x'],
    ['helm --set ', 'secret.', 'x'],
    ['git config ', 'password=1password:', '('],
    ['x ', 'authorization:', ''],
    ['x ', 'eyJa-', ''],
  ])('takes time in proportion after %j, of repeated %j before %j', (before, part, after) => {
    const text = `${before}${part.repeat(Math.ceil(1_000_000 / part.length))}${after}`;
    expect(maskSecrets(text)).not.toBe('');
  });
});

describe(maskShownSecrets.name, () => {
  const SHOWN = 64 * 1024;
  const blanks = (length: number) => ' '.repeat(length);

  it('reads no more of a text than a notification can show', () => {
    const text = maskShownSecrets(`API_TOKEN=s3cr3t ${'x '.repeat(8 * 1024 * 1024)}`);
    expect(text.length).toBeLessThanOrEqual(SHOWN + MASK.length);
    expect(text).toMatch(/^API_TOKEN=\[masked] x[^]*…$/);
    const short = 'x '.repeat(SHOWN);
    expect(maskShownSecrets(short)).toBe(short);
  });

  it.each([SHOWN, 2 * SHOWN])(
    'masks a secret at the position %d as in the whole text',
    (position) => {
      const revealed = SECRETS.filter(([text, secret]) => {
        const cut = text.indexOf(secret) + (secret.length >> 1);
        const whole = `${blanks(position - cut)}${text}\n${blanks(2 * SHOWN)}`;
        return !maskSecrets(whole).startsWith(maskShownSecrets(whole).slice(0, -1));
      });
      expect(revealed).toEqual([]);
    },
  );

  it('splits no character', () => {
    const text = `${blanks(SHOWN - 1)}😀${blanks(SHOWN)}`;
    expect(maskShownSecrets(text)).toBe(`${blanks(SHOWN - 1)}…`);
  });
});
