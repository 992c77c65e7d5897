import type { LoginAnswer } from '../../client/api/api-client-answers.js';
import { command } from '../command.js';
import { usageError } from '../cli-error.js';
import { SERVER } from '../options.js';

/** Logs in with the device key for the server, an identity provider, or a client certificate. */
export const login = command({
  name: 'login',
  description: "log in with this user's device key; the first login creates key and account",
  options: [
    SERVER,
    ['--provider <id>', 'log in with this identity provider, in a browser'],
    ['--keyless', 'with --provider: log in to an account without a device key'],
    ['--certificate <file>', 'log in with this client certificate (PEM), with --key'],
    ['--key <file>', 'key of the certificate (PEM)'],
    ['--certificate-url <url>', 'address that requests client certificates, if not --server'],
    ['--ca <file>', "authority of that address's certificate, if a private one"],
    ['--no-browser', 'print the address, and open no browser'],
  ],
  help: `
Key and session are kept in $XDG_CONFIG_HOME/gatehouse (default ~/.config/gatehouse),
readable by you alone. Back up the key (gatehouse key show): it gives access to the account.
`,
  examples: [
    'gatehouse login --server https://gate.example.org',
    'gatehouse login --provider okta',
    'gatehouse login --certificate cert.pem --key key.pem',
  ],
  async run(context) {
    const { provider, keyless, certificate, certificateUrl, ca, key } = context.options;
    const { requireServer } = await import('./current-session.js');
    const { store, server } = await requireServer(context);
    if (keyless === true && provider === undefined) {
      throw usageError('--keyless needs --provider.', SEE_HELP);
    }
    if (certificate === undefined && (ca ?? certificateUrl) !== undefined) {
      throw usageError('--ca and --certificate-url need --certificate.', SEE_HELP);
    }
    let answer: LoginAnswer;
    if (certificate !== undefined || key !== undefined) {
      const { logInWithCertificate } = await import('./certificate-login.js');
      answer = await logInWithCertificate(context.options, server);
    } else if (provider !== undefined) {
      const { logInWithProvider } = await import('./provider-login.js');
      answer = await logInWithProvider(context, { server, provider, store });
    } else {
      const { logInWithKey } = await import('./key-login.js');
      answer = await logInWithKey(server, store);
    }
    const { token, accountId, created } = answer;
    await store.saveSession({ server, accountId, token });
    context.output.result(
      { server, accountId, created },
      created
        ? `Created the account ${accountId} on ${server} and logged in.`
        : `Logged in to ${server} as ${accountId}.`,
    );
  },
});

const SEE_HELP = 'See: gatehouse login --help';
