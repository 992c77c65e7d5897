/** What this browser is called, such as `Firefox on Linux`. */
export function browserName(): string {
  const { userAgent } = navigator;
  const nameIn = (names: Readonly<Record<string, RegExp>>, otherwise: string): string =>
    Object.keys(names).find((name) => names[name]?.test(userAgent)) ?? otherwise;
  return `${nameIn(BROWSERS, 'Browser')} on ${nameIn(SYSTEMS, 'this device')}`;
}

/** The first that matches: later ones are named in the user agents of earlier ones. */
const BROWSERS = { Edge: /Edg/, Firefox: /Firefox|FxiOS/, Chrome: /Chrom|CriOS/, Safari: /Safari/ };
const SYSTEMS = {
  Android: /Android/,
  iPhone: /iPhone/,
  iPad: /iPad/,
  Windows: /Windows/,
  macOS: /Mac/,
  Linux: /Linux/,
};
