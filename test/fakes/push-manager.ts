/**
 * Real in the tests of notifications in the browser: the page, its service worker, Chromium's notifications and their clicks (through D-Bus,
 * as on a desktop), the sender, and the browser's decryption (by web-push-testing). Chromium has no
 * push service on a test machine: `pushManager.subscribe` is answered by the fake one, and what it
 * got and decrypted is handed to the worker by the DevTools protocol.
 */
export const FAKE_PUSH_MANAGER = `
  const kept = () => JSON.parse(localStorage.getItem('test.subscription') ?? 'null');
  const subscriptionOf = (json) => json && {
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
