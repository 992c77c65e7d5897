import { base64urlnopad, utf8 } from '@scure/base';

export function base64UrlOf(bytes: Uint8Array): string {
  return base64urlnopad.encode(bytes);
}

/** UTF-8, also where the engine has no TextEncoder. */
export function utf8Bytes(text: string): Uint8Array {
  return utf8.decode(text);
}

/** @throws where the bytes are not UTF-8 */
export function utf8Text(bytes: Uint8Array): string {
  return utf8.encode(bytes);
}

/** @throws Error where the platform has no `crypto.getRandomValues` */
export function requireRandom(): Pick<typeof globalThis.crypto, 'getRandomValues'> {
  const { crypto } = globalThis as { readonly crypto?: typeof globalThis.crypto };
  if (typeof crypto?.getRandomValues !== 'function') {
    throw new Error(
      'This platform has no crypto.getRandomValues. In React Native, import a polyfill first, for example react-native-get-random-values.',
    );
  }
  return crypto;
}

export function randomBytes(length: number): Uint8Array<ArrayBuffer> {
  return requireRandom().getRandomValues(new Uint8Array(length));
}
