const METHODS: Readonly<Record<string, string>> = {
  key_challenge: 'with the device key',
  mtls: 'with a certificate',
  device: 'by another device',
};

/** Says how a session signed in, as the end of a sentence. */
export function describeMethod(method: string): string {
  return METHODS[method] ?? `with ${method}`;
}
