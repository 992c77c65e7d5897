/** Who names the people of a provider. */
export interface Authority {
  /** OpenID Connect: the issuer. GitHub: the address of the server. */
  readonly issuer: string;
  /** Issuers whose subjects are the same people, after the provider's address changed. */
  readonly formerIssuers: readonly string[];
}

/**
 * Whether an identity belongs to the authority. A subject is unique within its issuer only (OpenID
 * Connect Core 1.0, 2): at another issuer the same subject is another person.
 *
 * @param stored null = stored before issuers were; the next confirmation by the provider adopts it
 * @param authority null = identities of this kind have no issuer (certificates)
 */
export function isOfAuthority(stored: string | null, authority: Authority | null): boolean {
  return (
    stored === null ||
    authority === null ||
    stored === authority.issuer ||
    authority.formerIssuers.includes(stored)
  );
}

/** Every issuer whose identities belong to the authority. */
export function issuersOf({ issuer, formerIssuers }: Authority): string[] {
  return [issuer, ...formerIssuers];
}
