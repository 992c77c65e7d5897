import { command, type CommandGroup } from '../command.js';
import { SERVER } from '../options.js';

const CODE = [
  '<code>',
  'the code that the new device shows, or the link of its QR code; - reads it from standard input',
] as const;

/** Approves or refuses devices that ask to join: `gatehouse login --code`, or an app. */
export const devices: CommandGroup = {
  name: 'devices',
  description: 'add a new device to your account, or refuse it',
  commands: [
    command({
      name: 'approve',
      description: 'log a new device in to your account, by its code or its link',
      args: [CODE],
      options: [SERVER, ['--yes', 'do not ask: a script has the link. Not for a typed code']],
      help: `
Shows the device, and reads "y" from standard input. The new device gets a session of its own and,
where the account has one, the device key: it can then do all that you can.
A typed code carries no key. It shows words: approve only while both screens show the same ones. It
then shows other words, of which the new device asks for the first three.
`,
      examples: [
        'gatehouse devices approve WDJB-MJHT',
        'gatehouse devices approve -',
        'wl-paste | gatehouse devices approve --yes -',
      ],
      run: async (context) => (await import('./device-approval.js')).approveDevice(context),
    }),
    command({
      name: 'refuse',
      description: 'refuse a device; it must ask again',
      args: [CODE],
      options: [SERVER],
      examples: ['gatehouse devices refuse WDJB-MJHT'],
      run: async (context) => (await import('./device-approval.js')).refuseDevice(context),
    }),
  ],
};
