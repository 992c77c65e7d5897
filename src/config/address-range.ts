import { isIP } from 'node:net';

const BITS: Readonly<Record<number, number>> = { 4: 32, 6: 128 };

/** Whether the text is an IP address, or a CIDR range such as 10.0.0.0/8 or fd00::/8. */
export function isAddressRange(text: unknown): boolean {
  if (typeof text !== 'string') {
    return false;
  }
  const [address = '', prefix, ...rest] = text.split('/');
  const bits = BITS[isIP(address)];
  if (bits === undefined || rest.length > 0 || address.includes('%')) {
    return false;
  }
  return prefix === undefined || (/^(0|[1-9]\d{0,2})$/.test(prefix) && Number(prefix) <= bits);
}

/** Whether the range holds every address of its family. */
export function isEveryAddress(range: string): boolean {
  return range.endsWith('/0');
}
