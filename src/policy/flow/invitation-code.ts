/** Base 32 without I, L, O and U: none of its characters is taken for another. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** 90 bits. */
const DRAWN = 18;
const GROUP = 4;
const CODE = new RegExp(`^[${ALPHABET}]{${DRAWN}}[0-9]{2}$`);

/** What the readers of a code may type in place of its characters. */
const LOOKALIKES: Readonly<Record<string, string>> = { O: '0', I: '1', L: '1' };

const WINDOW_MS = 10 * 60_000;

/**
 * Codes that may be tried at this deployment, in each window: from one address group, and from all
 * together. A year of guessing at the second limit finds one of a million codes with less than 2^-44.
 */
export const INVITATION_TRIES = {
  perAddress: { max: 20, timeWindow: WINDOW_MS },
  all: { max: 1000, timeWindow: WINDOW_MS },
} as const;

/** What an invitation may be: accounts it makes, its lifetime, and the characters of its note. */
export const INVITATION_LIMITS = {
  uses: 1000,
  minSeconds: 60,
  maxSeconds: 31_536_000,
  noteLength: 200,
} as const;

/**
 * A new invitation code, as it is stored: 18 characters of base 32, and two check digits.
 *
 * @param draw an unbiased random integer from 0 up to, not including, its argument
 */
export function drawInvitationCode(draw: (bound: number) => number): string {
  const drawn = Array.from({ length: DRAWN }, () => ALPHABET.charAt(draw(ALPHABET.length))).join(
    '',
  );
  const digits = 98 - remainder(drawn, '00');
  return `${drawn}${String(digits).padStart(2, '0')}`;
}

/** A code as it is shown: `XXXX-XXXX-XXXX-XXXX-XXNN`. @param code of {@link readInvitationCode} */
export function showInvitationCode(code: string): string {
  return (code.match(new RegExp(`.{${GROUP}}`, 'g')) ?? []).join('-');
}

/**
 * Reads an invitation code as a person types it: in any case, with dashes and spaces or without.
 *
 * @returns its twenty characters in upper case; null when it cannot be one, as after one mistyped
 *   character or two that changed places
 */
export function readInvitationCode(text: string): string | null {
  const code = text
    .replace(/[\s-]/g, '')
    .toUpperCase()
    .replace(/[OIL]/g, (character) => LOOKALIKES[character] ?? character);
  return CODE.test(code) && remainder(code.slice(0, DRAWN), code.slice(DRAWN)) === 1 ? code : null;
}

/** In the fragment of the address of the account page: browsers send no server a fragment. */
const LINK = '#invitation=';
const MAX_LINK_CHARACTERS = 64;

/** Where people sign up. */
export interface SignUpPage {
  /** Without a trailing slash; null = it was not given. */
  readonly publicUrl: string | null;
  /** Whether the server has the account page. */
  readonly accountPageEnabled: boolean;
}

/**
 * The sign-up on the account page, with the code filled in.
 *
 * @param code of {@link showInvitationCode}
 * @returns null where the server has no account page, or does not know its own address
 */
export function invitationLink(
  { publicUrl, accountPageEnabled }: SignUpPage,
  code: string,
): string | null {
  return publicUrl === null || !accountPageEnabled ? null : `${publicUrl}/app${LINK}${code}`;
}

/**
 * Reads the fragment of such a link.
 *
 * @param hash with its `#`
 * @returns the code as it was written, right or wrong; null where the fragment is something else
 */
export function invitationIn(hash: string): string | null {
  return hash.startsWith(LINK)
    ? hash.slice(LINK.length, LINK.length + MAX_LINK_CHARACTERS).replace(/[^\w-]/g, '')
    : null;
}

/**
 * Check digits make the whole leave 1 (as ISO/IEC 7064, MOD 97). The characters before them count in
 * base 32, which finds every single wrong character and every two neighbours that changed places.
 */
function remainder(drawn: string, digits: string): number {
  const rest = [...drawn].reduce((sum, one) => (sum * 32 + ALPHABET.indexOf(one)) % 97, 0);
  return (rest * 100 + Number(digits)) % 97;
}
