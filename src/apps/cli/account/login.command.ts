import type { LoginAnswer } from '../../../packages/client/api/api-client-answers.js';
import { command, type CliContext } from '../command.js';
import { usageError } from '../cli-error.js';
import { NO_BROWSER, OLDER_SERVER, PROVIDER, SERVER } from '../options.js';
import type { ServerStore } from './server-store.js';

const WHERE = `
Key and session are kept in $XDG_CONFIG_HOME/gatehouse (default ~/.config/gatehouse),
readable by you alone. Back up the key (gatehouse key show): it gives access to the account.
`;

/** The account page asks for it before it creates an account. */
const BACK_UP =
  '\nOnly its device key opens it, and the key cannot be recovered. Back it up: gatehouse key show';

export const signup = command({
  name: 'signup',
  description: 'create an account with a new device key, and sign in',
  options: [
    SERVER,
    PROVIDER,
    NO_BROWSER,
    OLDER_SERVER,
    ['--invitation <code>', 'code of an invitation of the operator', { conflicts: ['provider'] }],
  ],
  help: WHERE,
  examples: [
    'gatehouse signup --server https://gate.example.org',
    'gatehouse signup --provider okta',
    'gatehouse signup --server https://gate.example.org --invitation <code>',
  ],
  async run(context) {
    const { provider, invitation } = context.options;
    const { requireServer } = await import('./current-session.js');
    const { store, server } = await requireServer(context);
    await noteOlderServer(context, store, server);
    let answer: LoginAnswer;
    if (provider === undefined) {
      const { signUpWithKey } = await import('./key-login.js');
      answer = await signUpWithKey(server, store, invitation);
    } else {
      const { logInWithProvider } = await import('./provider-login.js');
      answer = await logInWithProvider(context, { server, provider, store, isSignUp: true });
    }
    await startSession(context, store, server, answer, BACK_UP);
  },
});

export const login = command({
  name: 'login',
  description: "sign in to your account with this user's device key",
  options: [
    SERVER,
    PROVIDER,
    ['--keyless', 'with --provider: sign in to an account without a device key'],
    ['--certificate <file>', 'sign in with this client certificate (PEM), with --key'],
    ['--key <file>', 'key of the certificate (PEM)'],
    ['--certificate-url <url>', 'address that requests client certificates, if not --server'],
    ['--ca <file>', "authority of that address's certificate, if a private one"],
    NO_BROWSER,
    OLDER_SERVER,
    [
      '--code',
      'show a QR code and a short code, and wait until another device approves this one',
      { conflicts: ['keyless', 'certificate', 'key'] },
    ],
    ['--account <id>', 'with --code: accept only this account, and do not ask; for scripts'],
  ],
  help: `
A device key without an account is refused: gatehouse signup creates accounts. With --keyless or
--certificate the first login creates one, where the server allows it.
--code needs no browser on this machine: approve it with gatehouse devices approve, or at /app/device
of the server, where every way to sign in is offered. With --provider only an account that is
connected with this provider is accepted. It then shows whose account it is, and asks before it
stores anything. Without a terminal, name the account (--account) and approve by the link.
${WHERE}`,
  examples: [
    'gatehouse login --server https://gate.example.org',
    'gatehouse login --provider okta',
    'gatehouse login --certificate cert.pem --key key.pem',
    'gatehouse login --server https://gate.example.org --code',
  ],
  async run(context) {
    const { provider, keyless, certificate, certificateUrl, ca, key, code, account } =
      context.options;
    const { requireServer } = await import('./current-session.js');
    const { store, server } = await requireServer(context);
    if (keyless === true && provider === undefined) {
      throw usageError('--keyless needs --provider.', SEE_HELP);
    }
    if (account !== undefined && code !== true) {
      throw usageError('--account needs --code.', SEE_HELP);
    }
    if (certificate === undefined && (ca ?? certificateUrl) !== undefined) {
      throw usageError('--ca and --certificate-url need --certificate.', SEE_HELP);
    }
    await noteOlderServer(context, store, server);
    let answer: LoginAnswer;
    if (code === true) {
      const { logInWithCode } = await import('./code-login.js');
      answer = await logInWithCode(context, { server, store, provider, account });
    } else if (certificate !== undefined || key !== undefined) {
      const { logInWithCertificate } = await import('./certificate-login.js');
      answer = await logInWithCertificate(context.options, server);
    } else if (provider !== undefined) {
      const { logInWithProvider } = await import('./provider-login.js');
      const login = { server, provider, store, isSignUp: false };
      answer = await logInWithProvider(context, login);
    } else {
      const { logInWithKey } = await import('./key-login.js');
      answer = await logInWithKey(server, store);
    }
    await startSession(context, store, server, answer);
  },
});

const SEE_HELP = 'See: gatehouse login --help';

/** Remembered for this address alone, so that no other server can make use of it. */
async function noteOlderServer(
  { options, output }: CliContext<{ readonly olderServer?: boolean | undefined }>,
  store: ServerStore,
  server: string,
): Promise<void> {
  if (options.olderServer === true) {
    await store.rememberOlderServer(server);
  }
  if (await store.isOlderServer(server)) {
    output.note(
      `Warning: ${server} is noted as an older server. Where it gives no challenge, this command signs one of its own: such a login can be relayed to another server that accepts it, and sent again.`,
    );
  }
}

async function startSession(
  { output, environment }: CliContext,
  store: ServerStore,
  server: string,
  { token, accountId, created }: LoginAnswer,
  next = '',
): Promise<void> {
  await store.saveSession({ server, accountId, token });
  output.result(
    { server, accountId, created },
    created
      ? `Created the account ${accountId} on ${server} and signed in.${next}`
      : `Signed in to ${server} as ${accountId}.`,
  );
  if (environment['GATEHOUSE_TOKEN']) {
    output.note('GATEHOUSE_TOKEN is set: commands use it, and not this login.');
  }
}
