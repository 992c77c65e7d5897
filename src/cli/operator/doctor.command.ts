import { command, type CommandGroup } from '../command.js';
import { VARIABLES_FILE } from '../options.js';

/** Tests what surrounds a server: the proxy before it, and the identity providers that it asks. */
export const doctor: CommandGroup = {
  name: 'doctor',
  description: 'test the proxy and the identity providers of a server',
  commands: [
    command({
      name: 'providers',
      description: 'ask each identity provider what can be asked without a user',
      options: [VARIABLES_FILE],
      help: `
Uses the server's own variables. Run it where the server runs: it reports DNS,
TLS, refused connections, time-outs, a wrong discovery document, a client secret
that is wrong or has expired, and missing refresh tokens. Exits with 1 when a
provider fails.
`,
      examples: ['gatehouse doctor providers', 'gatehouse doctor providers --file production.env'],
      run: async (context) => (await import('./doctor-providers.js')).run(context),
    }),
    command({
      name: 'mtls',
      description: 'send forged certificate headers in every spelling, and report accepted ones',
      options: [
        ['--public-url <url>', 'address of the server that clients use', { isRequired: true }],
        ['--connect-to <address>', 'connect there, whatever the name resolves to'],
      ],
      help: `
Creates no account and needs no login. Run it where clients are, for each
address of the server. Exits with 1 when a forgery was accepted.
`,
      examples: ['gatehouse doctor mtls --public-url https://gate.example.org'],
      run: async (context) => (await import('./doctor-mtls.js')).run(context),
    }),
  ],
};
