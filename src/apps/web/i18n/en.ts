import { RETURN_ERRORS } from '../../../packages/client/return-errors.js';
import { enDevices } from './en-devices.js';
import { enRefusals } from './en-refusals.js';

/** English messages of the page. The compiler checks the other languages against them. */
export const en = {
  moment: 'One moment…',
  justNow: 'just now',
  tryAgain: 'Try again',
  cancel: 'Cancel',
  back: 'Back',
  close: 'Close',
  dismiss: 'Dismiss',
  copy: 'Copy',
  copied: 'Copied',
  copyRefused: 'The browser does not let this page copy. The text is selected: copy it yourself.',
  show: 'Show',
  hide: 'Hide',
  print: 'Print',
  remove: 'Remove',
  save: 'Save',
  language: 'Language',
  signOut: 'Sign out',
  noStorage:
    'This browser blocks the storage in which this page keeps your session. Allow cookies and site data for this address, and reload the page.',
  /** The English form is stored, and translated where it is shown. */
  browserOn: (browser: string | null, system: string | null) =>
    `${browser ?? 'Browser'}${system === null ? '' : ` on ${system}`}`,

  signIn: {
    title: (place: string) => `Sign in to ${place}`,
    none: 'No sign-in method is enabled on this server. Contact its operator.',
    insecure: 'Open this page over https: browsers refuse to create keys without it.',
    or: 'or',
    continueWith: (name: string) => `Continue with ${name}`,
    certificate: 'Continue with the certificate of this device',
    key: 'Use a device key',
    keyTitle: 'Sign in with your device key',
    keyLead:
      'A device key is the long code that begins with gatekey1. You saved it when you created your account.',
    keyScan: 'Point the camera at the QR code of your printed key.',
    keyNotScanned: "This QR code isn't a device key.",
    keyType: 'Type the key instead.',
    stay: 'Stay signed in on this device',
    stayHint: 'Only on a device of your own. Elsewhere, sign out when you leave.',
    keyLabel: 'Device key',
    keySubmit: 'Sign in',
    keysOnly: 'Only keys that already have an account can sign in.',
    noAccount: 'This key has no account on this server.',
    otherDevice: 'Use a signed-in device',
    create: 'Create an account',
    noAccountYet: 'No account yet?',
    forDevice: 'Sign in to the account that the new device is added to.',
    otherTab: 'This was started in another tab or browser. Start it again here.',
    noInvitations: 'This server accepts no invitations.',
    invitedAlready:
      'You opened an invitation, and are signed in already. Sign out to create another account.',
    closed: 'You have no account on this server, and this provider does not create accounts.',
  },

  newKey: {
    title: 'Create your account',
    lead: 'This key is the only way to sign in to the account, and it cannot be recovered. Save it in a password manager, or print it, before you continue.',
    label: 'Your new device key',
    saved: 'I saved the key',
    submit: 'Create the account',
    ready: 'Your account is ready.',
    withThis: 'Create an account with this key',
    haveOne: 'I already have a device key',
    haveNone: 'I have no device key',
    provider: (name: string, login: string | null) =>
      `You signed in through ${name}${login === null ? '' : ` as ${login}`}. This account also has a device key, and this browser does not have it.`,
    open: 'Open your account in this browser',
    checksum: 'The last six characters are a checksum, which finds typing mistakes.',
    userName: 'device key',
    invitation: 'Invitation code',
    invitationHint: 'From the operator of this server. Capital letters and dashes do not matter.',
  },

  /** A person whose account has a key that is not at hand. */
  lostKey: {
    title: 'I lost my key',
    otherDeviceHint:
      'An app, a computer or a browser that is signed in approves this one by a code.',
    first:
      'Look for it first: in your password manager, on the printed sheet, and on each device that is signed in. An app or a computer that has the key adds this browser, and shows the key again.',
    loss: 'If no device and no copy has the key, no one can restore it, and its encrypted data cannot be read any more.',
    administrator: (name: string) =>
      `An administrator of this server can then delete the account, so that you create a new one. Name the account of ${name} with which you signed in.`,
  },

  kind: {
    title: 'Which kind of account?',
    e2ee: 'End-to-end encrypted',
    e2eeHint:
      'Only your devices can read your data. You keep a key; if you lose it, you lose the data.',
    plain: 'Readable by the server',
    plainHint: 'You need no key: signing in with the provider is enough on every device.',
  },

  code: enDevices.code,

  nav: {
    label: 'Account',
    overview: 'Overview',
    requests: 'Requests',
    waiting: (count: number) => `${count} waiting`,
    devices: 'Devices and sessions',
    notifications: 'Notifications',
    security: 'Security',
  },

  overview: {
    title: 'Your account',
    unnamed: (id: string) => `Account ${id}`,
    e2ee: 'End-to-end encrypted',
    plain: 'Readable by the server',
    keyed: 'With a device key',
    keyless: 'Without a device key',
    details: 'Details',
    id: 'Account ID',
    created: 'Created',
    signIn: 'Sign-in',
    content: 'Content',
    next: 'What to do next',
    waiting: (count: number) =>
      count === 1 ? 'A request waits for you' : `${count} requests wait for you`,
    waitingHint: 'A program on your computer asks before it acts.',
    checkKey: 'Check that you saved your key',
    checkKeyHint:
      'This browser forgets your key when you sign out. To get back in, you need your saved key.',
    notify: 'Turn on notifications',
    notifyHint: 'Learn at once when a session waits for you.',
    sessions: (count: number) => (count === 1 ? '1 session' : `${count} sessions`),
    sessionsHint: 'Where you are signed in',
    devices: (count: number) =>
      count < 2
        ? `${count || 'No'} device gets notifications`
        : `${count} devices get notifications`,
    devicesHint: 'Phones, browsers and other receivers',
  },

  devices: {
    sessions: 'Sessions',
    programGranted: 'A program was allowed to act for you. You find it under Devices and sessions.',
    sessionsLead: 'Where you are signed in. End what you do not recognize.',
    thisDevice: 'This device',
    current: 'Active now',
    lastUsed: (when: string) => `Last used ${when}`,
    signedIn: (when: string) => `Signed in ${when}`,
    end: 'End',
    endNamed: (name: string) => `End the session of ${name}`,
    ended: 'That session has ended.',
    everywhere: 'Sign out everywhere…',
    byKey: 'with a device key',
    byCertificate: 'with a certificate',
    byDevice: 'approved on another device',
    byProvider: (name: string) => `through ${name}`,
    receivers: 'Devices that get notifications',
    receiversLead: 'An app adds itself when you allow its notifications.',
    noReceivers: 'No device gets notifications yet',
    noReceiversHint: 'Allow notifications in an app, or turn them on for this browser.',
    thisBrowser: 'This browser',
    added: (when: string) => `Added ${when}`,
    unnamed: {
      web: 'A browser',
      ios: 'An iPhone or iPad',
      android: 'An Android device',
      other: 'A device',
    },
    rename: 'Rename',
    renameTitle: 'Rename the device',
    nameSession: 'Name the session',
    name: 'Name',
    renamed: 'The name is saved.',
    removed: 'That device gets no more notifications.',
    add: 'Add a device…',
    addTitle: 'Add a device',
    addLead: 'Sign in on a new phone or computer, with the approval of this one.',
    addLeadKeyed:
      'Sign in on a new phone or computer, without typing the key. A browser gets a session only: it does not replace the saved key.',
  },

  tests: {
    open: 'Test…',
    title: (name: string) => `Test: ${name}`,
    show: 'Show a test',
    shown:
      'A test notification was shown, without the push service. If you see none, allow notifications of this browser in the settings of your system.',
    notShown: 'No test was shown. Reload this page.',
    sampleTitle: 'Gatehouse test',
    sampleBody: 'This browser can show your notifications.',
    why: 'The server sends no notifications, and push services accept none from a web page. To test the whole way, run this on a computer that is signed in to this account:',
    outcome: 'It reports whether the push service accepted the test.',
  },

  add: enDevices.add,

  security: {
    identities: 'Connected providers',
    identitiesLead: 'Providers that confirm who you are.',
    connect: 'Connect',
    connectNamed: (name: string) => `Connect ${name}`,
    disconnect: 'Disconnect',
    disconnectNamed: (name: string) => `Disconnect ${name}`,
    disconnectTitle: (name: string) => `Disconnect ${name}?`,
    disconnectLoss:
      'This server requires it: you lose access until you connect it again. Your data stays.',
    disconnectHint: 'You can connect it again at any time.',
    disconnectEnds: 'Devices that signed in with it are signed out, this one too if it did.',
    lastIdentity: 'Your only way to sign in. To disconnect it, connect another one first.',
    connected: (name: string) => `${name} is connected.`,
    disconnected: (name: string) => `${name} is disconnected.`,
    connectSignIn: (name: string) => `Sign in, then connect ${name} again.`,
    certificate: 'Certificate',
    required: 'Required',
    requiredHint: 'Required by this server',
    notConnected: 'Not connected',
    eligible: 'Confirmed',
    ineligible: 'Not confirmed',
    unknown: 'Not checked',
    checked: (when: string) => `Checked ${when}`,
    nextCheck: (when: string) => `Next check ${when}`,
    encryption: 'Encryption',
    e2ee: 'Your content is encrypted on your devices. The server stores it and cannot read it. Without the device key it cannot be read by anyone.',
    plain:
      'The server can read your content. It protects it as it protects its other data, and you need no key.',
    modeDiffers:
      'The server says otherwise. This browser uses none of the content until you confirm it under Notifications.',
    key: 'Check or print your key',
    keyView: 'Your device key',
    keyLead: 'Enter your key here to check it, or to print it once more.',
    keyUnchecked:
      'You have not entered this key here yet. Enter or scan it as you saved it: without it, the account cannot be opened again.',
    keyShow: 'Show or print the key',
    keyKept: 'This tab has your key in its memory. It is shown for 15 minutes.',
    keyCheck: 'Check the key',
    keyRight: 'This is the key of your account.',
    sheetTitle: (place: string) => `Device key for ${place}`,
    sheetLead:
      'This key gives full access to the account. Keep this sheet where only you can reach it.',
    sheetUse: 'To get back in',
    sheetSteps: [
      'Open the address of the server in a browser.',
      'Choose your provider or “Use a device key”.',
      'Scan the QR code, or type the key.',
    ],
    sheetCommand: (server: string) => `In a terminal: gatehouse key restore --server ${server}`,
    sheetMade: 'Printed',
    sheetAddress: 'Server',
    sessions: 'Sign out',
    sessionsLead: 'End every session of this account at once, this one too.',
    everywhere: 'Sign out everywhere',
    everywhereTitle: 'Sign out everywhere?',
    everywhereHint:
      'Every session ends, this one too. Programs that use the account need a new sign-in.',
    stay: 'Stay signed in',
    signedOut: 'You are signed out.',
    signedOutHere:
      'You are signed out, but only in this browser: the server did not answer. End this session from another device, or sign out everywhere after your next sign-in.',
    signedOutEverywhere: 'You are signed out on every device.',
    delete: 'Delete the account',
    deleteLead: 'Everything this server stores for it is deleted at once.',
    deleteOpen: 'Delete the account…',
    deleteTitle: 'Delete the account?',
    deleteHint: 'Everything this server stores for it is deleted at once. This cannot be undone.',
    deleteWord: 'delete',
    deleteLabel: (word: string) => `Type “${word}” to confirm`,
    deleteKeep: 'Keep it',
    deleteSubmit: 'Delete it',
    deleted: 'Your account was deleted.',
  },

  keep: {
    opens: 'This browser keeps your key. Your passkey opens it.',
    type: 'Type the key instead',
  },

  waiting: {
    ready: 'A turn is finished.',
    permission_request: 'A permission request waits.',
    user_action_request: 'A question waits.',
    session: 'Session',
    request: 'Request',
    hint: 'Answer it in the app that shows this session.',
    server: 'Server',
    otherServer: 'It is of another server, so nothing was sent. Open the page of that server.',
    denied: 'The request is denied.',
  },

  lock: {
    title: 'Your settings are encrypted',
    lead: 'Your device key opens them. It is not sent to the server.',
    keep: 'This tab forgets it when you reload the page. Under Security you can keep it on this device.',
    submit: 'Open the settings',
  },

  errors: {
    channelInvalid:
      'This address cannot be used. It must start with https:// or http://, contain no user name or password, and name the topic for ntfy.',
    channelGone: 'This webhook was removed in the meantime.',
    channelForm: 'The webhooks are stored in a form that this page cannot read.',
    pushDenied:
      'Notifications need your permission. Allow them when this browser asks, or in its settings for this site.',
    pushAddress: 'The push service of this browser gave no address that can be used.',
    pushService: 'The push service of this browser cannot be reached.',
    unreachable: 'The server does not answer. Check your connection and try again.',
    unexpected: 'An unexpected error occurred in this page. Reload it and try again.',
    unexpectedAnswer: 'The server sent an answer that this page does not understand. Reload it.',
    retry: (when: string) => `Try again ${when}.`,
    provider: 'The identity provider',
    refused: (code: string) => `This sign-in was refused (${code}).`,
    keyForm: "This isn't a device key. Keys start with gatekey1; older ones have 43 characters.",
    keyChecksum: 'This device key has a typing mistake: its checksum does not match.',
    otherKey: 'This is not the device key of this account.',
    deviceKey: 'The key of the new device is damaged. Start again there.',
    deviceOther:
      'The account was not sealed to this device. The server may be trying to deceive you: nothing was stored.',
    deviceOlder: 'The device that approved uses an older version. Update it, and begin again.',
    deviceWords: 'These are not the words of the device that approved. Begin again.',
    deviceServerOlder:
      'This server adds devices in an older version, which is not safe. Its operator has to update it.',
    deviceServerOther:
      'The address of this page is not among the addresses of the server. Check the address.',
    passkeyCancelled:
      'The passkey was not used. The request was cancelled, or the passkey is not on this device.',
    passkeyUnsuitable: 'This passkey cannot encrypt a key. Another device or browser may have one.',
    passkeyDamaged: 'The key that this browser keeps cannot be opened. Type the key instead.',
    contentForm: 'Another client encrypted this value in a form that this page cannot read.',
    contentKey: 'This value belongs to another key or account, or it was modified.',
    contentText: 'The decrypted value is not JSON.',
    settingsConflict: 'The settings keep changing. Try again in a moment.',
    settingsRefused:
      'This browser does not use the settings of this account until you confirm them under Notifications.',
    settingsForm: 'The settings of this account are in a form that this page cannot read.',
    challenge:
      'The server sent a challenge that is not its own. Nothing was signed. Check the address of this page.',
    challengeClock:
      'The clock of this device is ahead of the clock of the server. Nothing was signed. Set its time, and try again.',
  },

  returns: RETURN_ERRORS,

  /** `{provider}` is replaced by the name of the provider. A code without a text shows the message of the server. */
  refusals: enRefusals,
};

/** Every text of the page, in one language. A language that lacks one does not compile. */
export type Messages = typeof en;
