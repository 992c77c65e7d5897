/** Encoded by hand, because React Native implements only a part of URLSearchParams. */

export function writeQuery(values: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map((pair) => pair.map((part) => encodeURIComponent(String(part))).join('='));
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** Returns the parameters of an address, the first of each name; null for an invalid address. */
export function readQuery(address: string): ReadonlyMap<string, string> | null {
  if (!/^[a-z][a-z\d+.-]*:/i.test(address)) {
    return null;
  }
  const [page = ''] = address.split('#');
  const at = page.indexOf('?');
  const values = new Map<string, string>();
  for (const pair of at === -1 ? [] : page.slice(at + 1).split('&')) {
    const [name = '', ...value] = pair.split('=');
    if (!values.has(decode(name))) {
      values.set(decode(name), decode(value.join('=')));
    }
  }
  return values;
}

function decode(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}
