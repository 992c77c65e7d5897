import { loaderOf } from './messages.js';

/** English texts of the notifications. The compiler checks the other languages against them. */
export const notificationMessages = {
  push: {
    title: 'Push notifications',
    lead: 'What coding agents on your computers send to your phones and browsers. Webhooks have switches of their own.',
    enabled: 'Send push notifications',
    when: 'Notify me of these events',
    shows: 'What they show',
    message: 'The last message of the agent',
    messageHint: 'Off: “The turn is finished. It is waiting for you.”',
    previews: 'What a request asks for',
    previewsHint: 'The command, the file or the question. Off: a general sentence.',
    previewsOn:
      'A computer sends it unless it is set up not to; “gatehouse notify doctor” checks that.',
    previewsOff:
      'A computer sends it only if it is set up to; “gatehouse notify doctor” checks that.',
    foreground: 'While the app is open',
    foregroundChoices: {
      full: 'Show them, with sound',
      silent: 'Show them silently',
      off: 'Show nothing',
    },
    preview: 'What you will see',
  },
  topics: {
    ready: 'Ready',
    permissionRequest: 'Permission requests',
    userActionRequest: 'Questions',
  },
  topicHints: {
    ready: 'The agent has finished, and waits for you.',
    permissionRequest: 'The agent asks before it uses a tool.',
    userActionRequest: 'The agent has a question for you.',
  },

  browser: {
    title: 'This browser',
    lead: 'Shows notifications without an app, also while this page is closed.',
    isOn: 'This browser shows your notifications',
    isOff: 'Not possible in this browser now',
    nothingSent: 'Push notifications are off, so none arrive here',
    turnOff: 'To turn them off here, remove this browser under',
    previews: 'Show on this device what a request asks for',
    previewsHint: 'Off: a general sentence in this browser, whatever the other switches say.',
    turnOn: 'Turn on in this browser',
    name: 'Name of this browser',
    on: 'This browser now shows your notifications.',
    wholeWay: 'To test the whole way, from your computer to here, run this command:',
    unsupported:
      'This browser cannot receive notifications. Use another browser, an app or a webhook.',
    homeScreen:
      'An iPhone or iPad shows notifications only of pages on its Home Screen: choose “Add to Home Screen” in the Share menu, and open this page from there.',
    blocked:
      'This browser blocks notifications of this page. Allow them in its settings for this site, often next to the address, and reload the page.',
    development: 'This is a development build, which does not register for notifications.',
  },

  receivers: {
    title: 'Devices that show text',
    lead: 'Every session of this account can add a device. Only the key of the account confirms one.',
    none: 'No device is confirmed yet, so all of them show titles and text. Tick yours: the others then notify you without text.',
    some: 'These devices are not confirmed, so they notify you without title and text. An app that does not confirm itself keeps working this way. Tick the devices that are yours, and remove the others under “Devices and sessions”.',
    all: 'Every device that notifies you is confirmed',
    confirm: 'Show text on the ticked devices',
    confirmed: 'The ticked devices now show text.',
  },

  refused: {
    title: 'This browser does not use these settings',
    plain:
      'The server says that it can read the settings of this account. This browser has had the key of the account, and expects them end-to-end encrypted.',
    encrypted:
      'The server says that the settings of this account are end-to-end encrypted. You chose here that the server can read them.',
    missing: 'The server has no settings, but this browser has seen some.',
    older: 'The server has older settings than this browser has seen.',
    replaced: 'The server has other settings than those that this browser has seen.',
    modeCause:
      'Continue only if you chose this, on another device or when you created the account. Otherwise the server may want to deceive you: report it to its operator.',
    cause:
      'The cause is an older app, a restored backup, or a server that wants to deceive you. Check the webhooks and the devices before you continue.',
    webhooks: 'These webhooks are in the settings:',
    noWebhooks: 'There are no webhooks in the settings.',
    allShowText: 'No device is confirmed in the settings: all that are saved will show text.',
    confirmed: (count: number) => `Confirmed devices, which show text: ${count}.`,
    confirmMode: 'I chose this',
    accept: 'Use these settings',
  },

  webhooks: {
    title: 'Webhooks',
    lead: 'Every event can also be sent to an address of yours, by HTTP POST.',
    none: 'No webhooks yet',
    noneHint: 'Add one for a chat, for ntfy or for a program of your own.',
    add: 'Add a webhook',
    addTitle: 'Add a webhook',
    change: 'Change',
    changeTitle: 'Change the webhook',
    url: 'Address',
    urlHint: 'Must start with https:// and contain no user name or password.',
    preset: 'Kind',
    presets: {
      generic: 'JSON, for your own program',
      slack: 'Slack',
      discord: 'Discord',
      ntfy: 'ntfy',
    },
    enabled: 'Send to this address',
    isOff: 'Off',
    isSigned: 'Signed',
    topics: 'Send these events',
    all: 'All events',
    noTopic: 'No events',
    sign: 'Sign the deliveries',
    signHint: 'With a secret, so that the receiver recognizes forgeries.',
    added: 'The webhook is added.',
    changed: 'The webhook is changed.',
    removed: 'The webhook is removed.',
    removeTitle: 'Remove this webhook?',
    removeLead: 'Nothing more is sent to it, and its signing secret is deleted.',
    broken: 'This webhook is stored in a form that no sender can use: nothing is sent to it.',
    secret: 'Signing',
    secretTitle: 'Signing secret',
    unsignedLead: 'The deliveries of this webhook are not signed.',
    signedLead:
      'The deliveries of this webhook are signed. A new secret takes effect at once; the previous one also signs for a day.',
    makeSecret: 'Make a secret',
    replaceSecret: 'Replace the secret',
    stopSigning: 'Stop signing',
    unsigned: 'The deliveries are no longer signed.',
    shownOnce: 'Save this secret where the receiver reads it. It is shown only now.',
    saved: 'I saved it',
  },

  test: {
    open: 'Preview and test',
    title: 'Preview and test',
    event: 'Event',
    previews: 'From a sender that shows what a request asks for',
    body: 'This is sent:',
    send: 'Send a test',
    why: 'A web page may not send to other servers. Your computer can: this command sends the event and reports the outcome.',
    orCurl: 'Or, where the command-line client is not installed, these lines:',
    secret: 'Put the signing secret of this webhook in the first line.',
    outcome:
      'The receiver accepted the test if its answer has a status from 200 to 299. Every other status is a failure.',
  },
};

/** Loads the texts of the language now, and again when it changes. */
export const loadNotificationMessages = loaderOf(
  notificationMessages,
  async () => (await import('./de-notifications.js')).deNotifications,
);
