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
      { numRuns: 150, examples: [['DB_PASS', 'int00AAz']] },
    );
  });
});

describe('A text that holds no secret', () => {
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
