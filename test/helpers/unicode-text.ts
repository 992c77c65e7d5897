import fc, { type Arbitrary } from 'fast-check';

/** fast-check's own unit for this, `binary`, maps every character of Unicode: 1 s and 85 MB per spec. */
const character = fc
  .integer({ min: 0, max: 0x10_ff_ff })
  .filter((code) => code < 0xd8_00 || code > 0xdf_ff)
  .map((code) => String.fromCodePoint(code), codeOf);

/** Text of any characters of Unicode, and the strings that fast-check knows to be dangerous. */
export function unicodeText(constraints: { readonly maxLength?: number } = {}): Arbitrary<string> {
  return fc.string({ ...constraints, unit: character });
}

/** Lets fast-check take its dangerous strings apart; what is not one character, it must refuse. */
function codeOf(text: unknown): number {
  const [code, ...more] = [...String(text)].map((one) => one.codePointAt(0));
  if (code === undefined || more.length > 0) {
    throw new Error(`${text} is not one character`);
  }
  return code;
}
