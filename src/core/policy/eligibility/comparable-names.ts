const ASCII = /^[\0-\x7f]*$/;

/**
 * A letter outside ASCII never becomes one inside it, to imitate a name: the Kelvin sign is no k.
 */
export function foldCase(text: string): string {
  return text.replace(/./gsu, (letter) => {
    const lower = letter.toLowerCase();
    return ASCII.test(lower) && !ASCII.test(letter) ? letter : lower;
  });
}

/** Writes letters and their marks as one character each (NFC), as far as none becomes one of ASCII. */
export function composed(text: string): string {
  return text.replace(/[^\u037e\u1fef\u212a]+/gu, (part) => part.normalize('NFC'));
}

/** Other characters have a meaning in an address of the web, or are no part of a label. */
const LABEL = /^[\p{L}\p{M}\p{N}-]+$/u;

/**
 * Writes a domain as DNS has it, in lower case and with `xn--` for labels outside of ASCII (RFC 5891). A
 * label that would become a plain one imitates it, and stays as it is.
 */
export function domainInAscii(domain: string): string {
  return domain.split('.').map(labelInAscii).join('.');
}

export function isDomainOf(domains: readonly string[], domain: string): boolean {
  const written = domainInAscii(domain);
  return domains.some((one) => domainInAscii(one) === written);
}

/** The local part of the address stays unchanged. */
export function addressInAscii(address: string): string {
  const at = address.lastIndexOf('@') + 1;
  return address.slice(0, at) + domainInAscii(address.slice(at));
}

function labelInAscii(label: string): string {
  const address = ASCII.test(label) || !LABEL.test(label) ? null : `http://${label}.test`;
  const written = address !== null && URL.canParse(address) ? new URL(address).hostname : '';
  return written.startsWith('xn--') ? written.slice(0, -'.test'.length) : foldCase(label);
}
