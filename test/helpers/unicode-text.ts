import fc, { type Arbitrary } from 'fast-check';

/** The unit `binary` of fast-check maps every character of Unicode: 1 s and 85 MB per spec. */
const character = fc
  .integer({ min: 0, max: 0x10_ff_ff })
  .filter((code) => code < 0xd8_00 || code > 0xdf_ff)
  .map((code) => String.fromCodePoint(code), codeOf);

export function unicodeText(constraints: { readonly maxLength?: number } = {}): Arbitrary<string> {
  return fc.string({ ...constraints, unit: character });
}

/** fast-check splits its dangerous strings by the code of a character. Refuses anything else. */
function codeOf(text: unknown): number {
  const [code, ...more] = [...String(text)].map((one) => one.codePointAt(0));
  if (code === undefined || more.length > 0) {
    throw new Error(`${text} is not one character`);
  }
  return code;
}
