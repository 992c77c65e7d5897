import { command, type CommandGroup } from '../command.js';
import { VARIABLES_FILE } from '../options.js';

export const doctor: CommandGroup = {
  name: 'doctor',
  description: 'check everything that a server depends on',
  commands: [
    command({
      name: 'server',
      isDefault: true,
      description: 'check everything that can be checked here; runs without a subcommand, too',
      options: [VARIABLES_FILE],
      help: `
Checks the configuration, the database and its schema, whether the master secret opens what is
stored, the clock, the free space of an embedded database, Redis, the end of every certificate,
revocation list and client secret, the keys of backends, the identity providers and their last
signals. Uses the server's own variables: run it where the server runs, as the same user. It changes
no data; Redis gets the empty messages that servers send, too. Each check has a time limit. Exits with 1 when a check fails, and with 78 when the
configuration is invalid; warnings do not change the exit code.
`,
      examples: [
        'gatehouse doctor server --file production.env',
        'gatehouse doctor',
        'gatehouse doctor --json',
      ],
      run: async (context) => (await import('./doctor-server.js')).run(context),
    }),
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
      name: 'signals',
      description: 'show the last signals of providers, their streams and their directories',
      options: [VARIABLES_FILE],
      help: `
Uses the server's own variables and DATABASE_URL. It shows when each provider last sent a signal,
the streams of security events with their status and silence, and the share of each directory's people
that are matched to an identity, and warns where a directory deactivated more of them within an hour
than its deactivationAlarm. Exits with 1 when a stream is paused, disabled, lost, silent or fails,
or when a directory matches no one.
`,
      examples: ['gatehouse doctor signals', 'gatehouse doctor signals --json'],
      run: async (context) => (await import('./doctor-signals.js')).run(context),
    }),
    command({
      name: 'mtls',
      description: 'test the proxy with forged certificate headers, and validate certificates',
      options: [
        ['--public-url <url>', 'address that clients use: send forged headers, in every spelling'],
        ['--connect-to <address>', 'connect there, whatever the name resolves to'],
        ['--ca <file>', "the authorities' certificates, as CA_PATH: report what is untidy"],
        [
          '--chain <file>',
          "a client's certificate and its intermediates: validate them as a login",
        ],
      ],
      help: `
Creates no account and needs no login. Run it where clients are, for each
address of the server. Exits with 1 when a forgery was accepted, or the chain is
refused. A warning names what departs from RFC 5280 and is accepted: it does not
change the exit code. Revocation is not checked.
`,
      examples: [
        'gatehouse doctor mtls --public-url https://gate.example.org',
        'gatehouse doctor mtls --ca ca.pem --chain alice.pem',
      ],
      run: async (context) => (await import('./doctor-mtls.js')).run(context),
    }),
  ],
};
