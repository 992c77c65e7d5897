import { command, type CommandGroup } from '../command.js';
import { FIELDS, SERVER } from '../options.js';

const CODE = [
  '<code>',
  'the code that the new device shows, or the link of its QR code; - reads it from standard input',
] as const;

/** Devices that are signed in, and those that ask to join: by `gatehouse login --code`, or an app. */
export const devices: CommandGroup = {
  name: 'devices',
  description: 'list or sign out the devices of your account, and add new ones',
  commands: [
    command({
      name: 'list',
      description: 'list where you are signed in, newest first; runs without a subcommand, too',
      isDefault: true,
      options: [FIELDS, SERVER],
      examples: [
        'gatehouse devices list',
        'gatehouse devices --json --fields id,client,lastSeenAt',
      ],
      run: async (context) => (await import('./list-devices.js')).listDevices(context),
    }),
    command({
      name: 'end',
      description: 'sign a device out, at once and everywhere',
      args: [['<id>', 'the id of its session, or the beginning of it']],
      options: [SERVER],
      help: `
Where the account has a device key, a device that kept it can sign in again.
`,
      examples: ['gatehouse devices end 3f1c2a44'],
      run: async (context) => (await import('./list-devices.js')).endDevice(context),
    }),
    command({
      name: 'approve',
      description: 'let a new device sign in to your account, by its code or its link',
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
