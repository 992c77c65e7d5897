// The model of web-push-testing, which has no types: browsers that subscribe and decrypt.
declare module 'web-push-testing/src/PushApiModel.js' {
  interface ModelSubscription {
    readonly endpoint: string;
    readonly keys: { readonly p256dh: string; readonly auth: string };
    readonly clientHash: string;
  }

  interface PushHeaders {
    readonly encoding: string | undefined;
    readonly authorization: string | undefined;
    readonly ttl: string | undefined;
  }

  export class PushApiModel {
    notifyUrl: string;
    /** Decrypted texts, by subscription. */
    readonly messages: Record<string, readonly string[]>;
    subscribe(options: { applicationServerKey: string }): Promise<ModelSubscription>;
    expireSubscription(clientHash: string): void;
    isSubscriptionExpired(clientHash: string): boolean;
    /** Rejects if the key or signature of the sender or the encryption is wrong. */
    handleNotification(clientHash: string, headers: PushHeaders, body: Buffer): Promise<void>;
  }

  const model: { readonly PushApiModel: new () => PushApiModel };
  export default model;
}
