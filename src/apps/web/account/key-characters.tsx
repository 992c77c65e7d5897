/** Characters of a bech32m checksum (BIP 350). */
const CHECKSUM_CHARACTERS = 6;

/** A device key whose checksum is set off. */
export function KeyCharacters({ secret }: { readonly secret: string }) {
  return (
    <>
      {secret.slice(0, -CHECKSUM_CHARACTERS)}
      <b>{secret.slice(-CHECKSUM_CHARACTERS)}</b>
    </>
  );
}
