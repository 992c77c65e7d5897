/** The place where an address is: a name that people can check, unlike the name of a program. */
export type ProgramPlace =
  | { readonly kind: 'host'; readonly host: string }
  /** A program on the computer of the browser, by a loopback address. */
  | { readonly kind: 'computer' }
  /** An app, by the scheme that it registered. */
  | { readonly kind: 'app'; readonly scheme: string };

/** Returns the place to which a program returns: its `redirectUri`. */
export function placeOf(address: string): ProgramPlace {
  const url = new URL(address);
  if (url.protocol === 'https:') {
    return { kind: 'host', host: url.host };
  }
  return url.protocol === 'http:'
    ? { kind: 'computer' }
    : { kind: 'app', scheme: url.protocol.slice(0, -1) };
}

/** Returns the name of {@link placeOf} an address, in the words of the caller. */
export function placeName(
  address: string,
  words: { readonly computer: string; readonly app: (scheme: string) => string },
): string {
  const place = placeOf(address);
  if (place.kind === 'computer') {
    return words.computer;
  }
  return place.kind === 'host' ? place.host : words.app(place.scheme);
}

/** The host that publishes a program; null = the operator of this server configured it. */
export function publisherOf(clientId: string): string | null {
  return clientId.startsWith('https://') ? new URL(clientId).host : null;
}
