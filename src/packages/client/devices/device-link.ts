import { normalizeBase64 } from '../../../core/protocol/base64.js';
import { readUserCode, showUserCode } from '../../../core/protocol/user-code.js';
import { parseServerUrl } from '../api/server-url.js';

const KEY_BYTES = 32;
const SECRET_BYTES = 32;
const PAGE = '/app/device';

/** The content of a new device's QR code or link (contract, Adding a device). */
export interface DeviceLink {
  /** As {@link parseServerUrl} returns it. Compare it with the server of this client. */
  readonly serverUrl: string;
  /** `XXXX-XXXX` */
  readonly userCode: string;
  /** 43 characters of base64url. Seal to this key, not to one that a server returns. */
  readonly publicKey: string;
  /** 43 characters of base64url. It proves to the new device that the approver has seen the link. */
  readonly linkSecret: string;
}

/** The link to show as a QR code. Browsers do not send the fragment to the server. */
export function deviceLink({ serverUrl, userCode, publicKey, linkSecret }: DeviceLink): string {
  return `${serverUrl}${PAGE}#${userCode}.${publicKey}.${linkSecret}`;
}

/** Reads the link of a QR code; null when it is not a device link of version 2. */
export function readDeviceLink(text: string): DeviceLink | null {
  const { linkSecret, ...link } = partsOf(text) ?? {};
  const secret = normalizeBase64(linkSecret ?? '', SECRET_BYTES, SECRET_BYTES);
  return secret === null
    ? null
    : { ...(link as Omit<DeviceLink, 'linkSecret'>), linkSecret: secret };
}

/** True for a device link of version 1: the app of the new device has to be updated. */
export function isOlderDeviceLink(text: string): boolean {
  return partsOf(text)?.linkSecret === null;
}

interface LinkParts extends Omit<DeviceLink, 'linkSecret'> {
  /** null where the link has two parts only. */
  readonly linkSecret: string | null;
}

function partsOf(text: string): LinkParts | null {
  const hash = text.indexOf('#');
  const page = text.slice(0, Math.max(hash, 0));
  const [code = '', key = '', linkSecret = null, ...more] = text.slice(hash + 1).split('.');
  const serverUrl = page.endsWith(PAGE) ? parseServerUrl(page.slice(0, -PAGE.length)) : null;
  const userCode = readUserCode(code);
  const publicKey = normalizeBase64(key, KEY_BYTES, KEY_BYTES);
  return serverUrl === null || userCode === null || publicKey === null || more.length > 0
    ? null
    : { serverUrl, userCode: showUserCode(userCode), publicKey, linkSecret };
}
