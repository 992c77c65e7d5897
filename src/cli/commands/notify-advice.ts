const ADDRESS = 'Start the receiver, or give the channel its right address.';
const SIGNATURE =
  "It may refuse the signature: compare its secret with the channel's, and let it read the raw body.";

/** What a person can do about a failure, by its code; null where the words say it all. */
const ADVICE: Readonly<Record<string, string>> = {
  'connection-refused': ADDRESS,
  'host-not-found': ADDRESS,
  'http-404': ADDRESS,
  'http-410': 'Remove the channel: gatehouse channels remove ID',
  'http-400': SIGNATURE,
  'http-401': SIGNATURE,
  'http-403': SIGNATURE,
  'redirect-refused': 'Remove the channel and add it with the address that it redirects to.',
  'certificate-refused':
    'Give the receiver a certificate of a known authority, or set NODE_EXTRA_CA_CERTS here.',
  timeout: 'The receiver must answer within 10 seconds: answer first, work afterwards.',
  'device-not-registered':
    'Open the app on the device and allow notifications: it registers a new token. This one is removed at the next notification.',
  'push-unauthorized': 'Set EXPO_ACCESS_TOKEN to an access token of the project of the app.',
  'push-unreachable': 'Look whether this computer reaches the push service, and EXPO_BASE_URL.',
  'invalid-credentials': 'Ask who builds the app: its push credentials have to be uploaded again.',
  'mismatch-sender-id': 'Ask who builds the app: its push credentials are of another project.',
};

export function adviceFor(code: string): string | null {
  return Object.hasOwn(ADVICE, code) ? (ADVICE[code] ?? null) : null;
}
