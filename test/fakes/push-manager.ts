/**
 * The page, the service worker, Chromium's notifications and clicks (through D-Bus), sender and
 * decryption are real. Chromium has no push service on a test machine: this one answers
 * `pushManager.subscribe`, and the DevTools protocol passes decrypted messages to the worker.
 */
export const FAKE_PUSH_MANAGER = `
  const kept = () => JSON.parse(localStorage.getItem('test.subscription') ?? 'null');
  const subscriptionOf = (json) => json && {
    options: { applicationServerKey: Uint8Array.from(atob(json.key), (c) => c.charCodeAt(0)).buffer },
    toJSON: () => json,
    unsubscribe: async () => {
      localStorage.removeItem('test.subscription');
      await unsubscribeAtService(json.endpoint);
      return true;
    },
  };
  PushManager.prototype.getSubscription = async () => subscriptionOf(kept());
  PushManager.prototype.subscribe = async ({ userVisibleOnly, applicationServerKey }) => {
    const key = btoa(String.fromCharCode(...new Uint8Array(applicationServerKey)));
    if (!userVisibleOnly) throw new DOMException('invisible', 'NotAllowedError');
    if (kept() && kept().key !== key) throw new DOMException('other key', 'InvalidStateError');
    const json = kept() ?? { ...(await subscribeAtService(key)), key };
    localStorage.setItem('test.subscription', JSON.stringify(json));
    return subscriptionOf(json);
  };`;
