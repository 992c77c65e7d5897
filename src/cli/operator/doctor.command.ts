import { command, type CommandGroup } from '../command.js';

/** Tests a running deployment from outside. */
export const doctor: CommandGroup = {
  name: 'doctor',
  description: 'test from outside that forged requests are refused',
  commands: [
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
