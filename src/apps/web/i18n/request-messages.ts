import { FIELD_LABELS } from '../../../packages/client/approvals/field-labels.js';
import { loaderOf } from './messages.js';

/** English texts of the requests of programs. */
export const requestMessages = {
  offline: 'You are offline. An answer cannot be sent until the connection is back.',

  list: {
    title: 'Waiting for you',
    lead: 'Programs on your computers ask before they act.',
    none: 'No requests',
    noneHint: 'Set up a coding agent with “gatehouse hook”. Its requests then appear here.',
    sealed: 'A sealed request',
    asked: (when: string) => `asked ${when}`,
  },

  ends: {
    sent: 'Sent',
    taken: 'Answered',
    answered: 'Answered elsewhere',
    withdrawn: 'Withdrawn',
    expired: 'Expired',
  },

  endHints: {
    sent: {
      allow: 'You allowed this. The computer has not yet confirmed that it received your answer.',
      deny: 'You denied this. The computer has not yet confirmed that it received your answer.',
      answer: 'Your answer is sent. The computer has not yet confirmed that it received it.',
      earlier:
        'An earlier answer counts, not this one. The computer has not yet confirmed that it received it.',
    },
    taken: {
      allow: 'You allowed this, and the computer received your answer.',
      deny: 'You denied this, and the computer received your answer.',
      answer: 'The computer received your answer.',
      earlier: 'The computer received an earlier answer.',
    },
    answered: 'This was answered on another device or at the computer.',
    withdrawn: 'The program no longer asks: it was answered at the computer, or stopped.',
    expired: 'No answer came in time. The program now asks at the computer.',
  },

  labels: FIELD_LABELS,

  view: {
    toList: 'All requests',
    permission: 'May this run?',
    question: 'A question for you',
    expires: 'Expires',
    saysTheAgent: 'says the agent',
    allow: 'Allow',
    deny: 'Deny',
    decline: 'Do not answer',
    confirms: 'Allow asks for your fingerprint, face or PIN.',
    unknown: 'This request no longer exists',
    unknownHint:
      'It ended some time ago, or it belongs to another account. If the program still asks, answer at its computer.',
    unopened: {
      closed: 'This request has ended',
      'no-key': 'A sealed request',
      refused: 'This request cannot be trusted',
      'other-server': 'This request is for another address',
    },
  },

  /** The effect of "Allow" under a notification. */
  pressed: {
    allowed:
      'Allowed by the button of the notification: it showed the whole command, and your passkey confirmed that it was you.',
    'not-authenticated':
      'Not allowed yet: a browser does not say who pressed the button of a notification. Allow it here. Where the page keeps its keys with a passkey, it asks for the passkey at once.',
    'other-request':
      'Not allowed yet: the notification does not name exactly this request. Read it and allow it here.',
    'not-whole':
      'Not allowed yet: a notification cannot show all of this request. Read it and allow it here.',
    'other-text':
      'Not allowed yet: the notification showed another text than this request, or only a part of it. Read it and allow it here.',
    unopened: 'Not allowed: this page cannot show the request.',
  },

  whyNot: {
    'no-key': 'Without your device key this browser cannot show the request, only deny it.',
    refused:
      'It does not open with your key, or is not what the computer asked. Do not allow it anywhere else without a look at the computer.',
    'other-server':
      'The computer uses this server at the address above. Open the page there to see the request. Here you can only deny it.',
    plain:
      'Your account has no device key, so the computer cannot know that an answer is yours. You can deny; allow it at the computer.',
    'too-long': 'This is too long to be judged here. Allow it at the computer, or deny it now.',
    'deny-only': 'This program takes a denial only. Allow it at the computer, or deny it now.',
  },

  form: {
    several: 'You can choose more than one.',
    own: 'Or your own answer',
    answer: 'Your answer',
    send: 'Send the answer',
    incomplete: 'Answer each question.',
  },

  key: {
    title: 'Keys for answers',
    leads: {
      none: 'Requests are sealed for your device key. Enter it to see and answer them: this server never receives it.',
      tab: 'This tab can open and answer requests until you close or reload it.',
      browser: 'This browser can open and answer requests while you are signed in here.',
    },
    isKept: 'Kept',
    isConfirmed: 'Kept, with a passkey',
    open: 'Open the requests',
    enterAgain: 'Reload the page and enter your key to keep the keys in this browser.',
    cannotKeep:
      'This browser keeps no keys: it cannot, or you did not choose to stay signed in on this device. An iPhone or iPad keeps them for the page on its Home Screen only. After each load of the page you enter your key, or deny without it.',
    risk: 'You can keep the two keys for requests and answers in this browser, so that you can answer at once. They cannot be copied out of it, and your device key is not among them. The risk: a person who uses this browser, or a server that sends a changed page, can answer for you.',
    confirm: 'Confirm each “Allow” with a passkey',
    confirmHint:
      'Your fingerprint, face or PIN. Then an unlocked phone alone cannot allow anything.',
    keep: 'Keep the keys in this browser',
    kept: 'This browser keeps the keys until this session ends.',
    ends: 'They are forgotten when you sign out, when this session ends anywhere, and when the data of this browser is deleted. Safari deletes it after seven days without a visit.',
    forget: 'Forget the keys on this device',
    forgotten: 'This browser has forgotten the keys.',
    passkey: (id: string) => `Answers of account ${id}`,
  },
};

/** Loads the texts of the language now, and again when it changes. */
export const loadRequestMessages = loaderOf(
  requestMessages,
  async () => (await import('./de-requests.js')).deRequests,
);
