/**
 * The passkeys of a device, in place of those of Chromium: its window for a passkey cannot be answered
 * by a test. `localStorage` says if the person is recognized. Each salt has a secret of its own.
 */
export const FAKE_PASSKEYS = `
  const used = async (rawId, { prf }) => {
    const first = await crypto.subtle.digest('SHA-256', prf.eval.first);
    return { rawId, getClientExtensionResults: () => ({ prf: { enabled: true, results: { first } } }) };
  };
  // An empty tab has no passkeys.
  const passkeys = window.PublicKeyCredential ?? {};
  passkeys.getClientCapabilities = async () =>
    ({ 'extension:prf': true, passkeyPlatformAuthenticator: true });
  const { prototype } = window.CredentialsContainer ?? { prototype: {} };
  prototype.create = ({ publicKey }) =>
    used(crypto.getRandomValues(new Uint8Array(16)).buffer, publicKey.extensions);
  prototype.get = async ({ publicKey }) => {
    if (localStorage.getItem('test.person') === 'refused') {
      throw new DOMException('not recognized', 'NotAllowedError');
    }
    return used(publicKey.allowCredentials[0].id, publicKey.extensions);
  };`;
