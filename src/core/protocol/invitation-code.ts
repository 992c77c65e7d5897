/** Base 32 without I, L, O and U, which look like other characters. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const DRAWN = 18;
const GROUP = 4;
const CODE = new RegExp(`^[${ALPHABET}]{${DRAWN}}[0-9]{2}$`);

const LOOKALIKES: Readonly<Record<string, string>> = { O: '0', I: '1', L: '1' };

/** @param draw an unbiased random integer from 0 up to, not including, its argument */
export function drawInvitationCode(draw: (bound: number) => number): string {
  const drawn = Array.from({ length: DRAWN }, () => ALPHABET.charAt(draw(ALPHABET.length))).join(
    '',
  );
  const digits = 98 - remainder(drawn, '00');
  return `${drawn}${String(digits).padStart(2, '0')}`;
}

/** Formats as `XXXX-XXXX-XXXX-XXXX-XXNN`. @param code of {@link readInvitationCode} */
export function showInvitationCode(code: string): string {
  return (code.match(new RegExp(`.{${GROUP}}`, 'g')) ?? []).join('-');
}

/** Accepts any case, dashes and spaces. @returns null for a wrong character or two swapped ones */
export function readInvitationCode(text: string): string | null {
  const code = text
    .replace(/[\s-]/g, '')
    .toUpperCase()
    .replace(/[OIL]/g, (character) => LOOKALIKES[character] ?? character);
  return CODE.test(code) && remainder(code.slice(0, DRAWN), code.slice(DRAWN)) === 1 ? code : null;
}

/** The code is in the fragment, because browsers do not send it to the server. */
const LINK = '#invitation=';
const MAX_LINK_CHARACTERS = 64;

interface SignUpPage {
  /** Without a trailing slash; null = not configured. */
  readonly publicUrl: string | null;
  readonly accountPageEnabled: boolean;
}

/** @returns null where the server has no account page, or its own address is unknown */
export function invitationLink(
  { publicUrl, accountPageEnabled }: SignUpPage,
  code: string,
): string | null {
  return publicUrl === null || !accountPageEnabled ? null : `${publicUrl}/app${LINK}${code}`;
}

/** @returns the code without validation; null for any other fragment */
export function invitationIn(hash: string): string | null {
  return hash.startsWith(LINK)
    ? hash.slice(LINK.length, LINK.length + MAX_LINK_CHARACTERS).replace(/[^\w-]/g, '')
    : null;
}

/** Must be 1 (ISO/IEC 7064, MOD 97): detects one wrong and two swapped neighbours in base 32. */
function remainder(drawn: string, digits: string): number {
  const rest = [...drawn].reduce((sum, one) => (sum * 32 + ALPHABET.indexOf(one)) % 97, 0);
  return (rest * 100 + Number(digits)) % 97;
}
