/** Characters of a bech32m checksum (BIP 350). */
const CHECKSUM_CHARACTERS = 6;

/** A device key in groups, whose checksum is set off. The gaps are no characters: a copy has none. */
export function KeyCharacters({ secret }: { readonly secret: string }) {
  const groups = secret.slice(0, -CHECKSUM_CHARACTERS).match(/.{1,4}/g) ?? [];
  return (
    <>
      {groups.map((group, index) => (
        <span key={index}>{group}</span>
      ))}
      <b>{secret.slice(-CHECKSUM_CHARACTERS)}</b>
    </>
  );
}
