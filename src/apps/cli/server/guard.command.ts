import { command } from '../command.js';
import { usageError } from '../cli-error.js';
import { wholeNumber } from '../options.js';

const DEFAULT_PORT = 9070;

export const guard = command({
  name: 'guard',
  description: 'verify access tokens for a backend next to this command, on 127.0.0.1',
  help: `
For backends in any language; one in JavaScript uses @gatehouse/guard itself.
  /verify  200 with the account for the token in the Authorization header, else
           401; 503 while it cannot be known which sessions have ended.
           ?scope=notes:read admits programs with this scope, too; without it
           they get 403
  /ended   server-sent events of sessions that ended: close their connections.
           "sid": null means all of them, and so does the end of the stream
  /health  200 while requests can be admitted, else 503
`,
  options: [
    ['--issuer <url>', 'SERVICE_PUBLIC_URL of Gatehouse', { isRequired: true }],
    ['--resource <url>', "the resource of the backend's entry", { isRequired: true }],
    ['--client-id <id>', "the id of the backend's entry", { isRequired: true }],
    ['--client-secret-file <file>', 'file with the client secret'],
    ['--client-key-file <file>', 'file with a private key (JWK), for private_key_jwt'],
    ['--client-assertion-file <file>', 'file with a client assertion, such as Kubernetes writes'],
    [
      '--port <number>',
      `port of 127.0.0.1 (default: ${DEFAULT_PORT})`,
      { parse: wholeNumber(0, 65_535) },
    ],
    [
      '--lease-seconds <number>',
      'refuse all requests after so long without signals (default: 30)',
      { parse: wholeNumber(25, 300) },
    ],
    ['--token-alg <name>', 'algorithm of the tokens', { choices: ['ES256', 'RS256'] }],
  ],
  examples: [
    'gatehouse guard --issuer https://gate.example.com --resource https://relay.example.com --client-id relay --client-secret-file relay-client-secret.txt',
  ],
  async run({ options, output }) {
    const { port = DEFAULT_PORT, issuer, resource, clientId, leaseSeconds, tokenAlg } = options;
    const { createGuard } = await import('../../../packages/guard/create-guard.js');
    const { GuardSidecar } = await import('./guard-sidecar.js');
    const library = start(() =>
      createGuard({
        issuer: issuer ?? '',
        resource: resource ?? '',
        leaseSeconds,
        tokenAlg: tokenAlg === 'RS256' ? 'RS256' : 'ES256',
        client: clientOf(clientId ?? '', options),
        log: ({ message, reason }) =>
          output.note(`${message}${reason === undefined ? '' : ` (${reason})`}`),
      }),
    );
    try {
      const sidecar = await GuardSidecar.start(library, port);
      output.result({ url: sidecar.url }, `Listening on ${sidecar.url}`);
      await new Promise<void>((resolve) => {
        for (const signal of ['SIGINT', 'SIGTERM'] as const) {
          process.once(signal, resolve);
        }
      });
      await sidecar.close();
    } finally {
      await library.close();
    }
  },
});

interface ClientFiles {
  readonly clientSecretFile?: string;
  readonly clientKeyFile?: string;
  readonly clientAssertionFile?: string;
}

function clientOf(
  id: string,
  { clientSecretFile, clientKeyFile, clientAssertionFile }: ClientFiles,
) {
  const given = [clientSecretFile, clientKeyFile, clientAssertionFile].filter((one) => one);
  if (given.length !== 1) {
    throw usageError(
      'Give one of --client-secret-file, --client-key-file and --client-assertion-file.',
    );
  }
  if (clientSecretFile !== undefined) {
    return { id, secretFile: clientSecretFile };
  }
  return clientKeyFile === undefined
    ? { id, assertionFile: clientAssertionFile ?? '' }
    : { id, privateKeyFile: clientKeyFile };
}

/** @throws CliError (usage) for an option that the library refuses */
function start<Value>(make: () => Value): Value {
  try {
    return make();
  } catch (error) {
    throw error instanceof TypeError ? usageError(error.message) : error;
  }
}
