/** Runs `work` on a platform with this `crypto`, as engines without Web Crypto have another. */
export async function withCrypto<Result>(
  crypto: object | undefined,
  work: () => Promise<Result> | Result,
): Promise<Result> {
  const platform = Object.getOwnPropertyDescriptor(globalThis, 'crypto');
  Object.defineProperty(globalThis, 'crypto', { value: crypto, configurable: true });
  try {
    return await work();
  } finally {
    if (platform === undefined) {
      Reflect.deleteProperty(globalThis, 'crypto');
    } else {
      Object.defineProperty(globalThis, 'crypto', platform);
    }
  }
}
