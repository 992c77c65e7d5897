export function browserName(): string {
  const { userAgent } = navigator;
  const nameIn = (names: Readonly<Record<string, RegExp>>, otherwise: string): string =>
    Object.keys(names).find((name) => names[name]?.test(userAgent)) ?? otherwise;
  return `${nameIn(BROWSERS, 'Browser')} on ${nameIn(SYSTEMS, 'this device')}`;
}

/** The order matters: user agents of the earlier ones also contain the names of later ones. */
const BROWSERS = { Edge: /Edg/, Firefox: /Firefox|FxiOS/, Chrome: /Chrom|CriOS/, Safari: /Safari/ };
const SYSTEMS = {
  Android: /Android/,
  iPhone: /iPhone/,
  iPad: /iPad/,
  Windows: /Windows/,
  macOS: /Mac/,
  Linux: /Linux/,
};
