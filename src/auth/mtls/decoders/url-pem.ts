import { decodePem } from './pem.js';

/**
 * Percent-encoded PEM: nginx, ingress-nginx, AWS, Kong. Never decoded as a form, where `+` is a
 * space: AWS leaves it as it is.
 */
export function decodeUrlPem(text: string): Buffer[] | null {
  try {
    return decodePem(decodeURIComponent(text));
  } catch {
    return null;
  }
}
