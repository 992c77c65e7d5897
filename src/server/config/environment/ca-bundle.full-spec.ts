import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  certificateDirectory,
  TestAuthority,
} from '../../../../test/fixtures/certificates-fixture.js';
import { resolveSettings } from '../resolve-settings.js';

const directory = certificateDirectory();
const corp = TestAuthority.root(directory, 'Corp').cert.trim();
const extra = TestAuthority.root(directory, 'Extra').cert.trim();

const file = (text: string): string => {
  const path = join(directory, 'bundle.pem');
  writeFileSync(path, text);
  return path;
};
const bundleOf = (environment: Readonly<Record<string, string>>): string | null =>
  resolveSettings(environment).settings.network.caBundle;

describe('SERVICE_CA_BUNDLE', () => {
  it('returns the certificates of the file, and ignores the text between them', () => {
    const path = file(`# Corp\r\n${corp}\n\n# Extra\n${extra}\n`);
    expect(bundleOf({ SERVICE_CA_BUNDLE: path })).toBe(`${corp}\n${extra}`);
    expect(bundleOf({})).toBeNull();
  });

  it('keeps the authorities of NODE_EXTRA_CA_CERTS', () => {
    const path = join(directory, 'extra.pem');
    writeFileSync(path, extra);
    const bundle = { SERVICE_CA_BUNDLE: file(corp) };
    expect(bundleOf({ ...bundle, NODE_EXTRA_CA_CERTS: path })).toBe(`${corp}\n${extra}`);
    expect(bundleOf({ ...bundle, NODE_EXTRA_CA_CERTS: '/nowhere' })).toBe(corp);
  });

  it.each([
    ['is missing', () => join(directory, 'none'), 'which does not exist'],
    ['is a directory', () => directory, 'which is not a file'],
    ['has no certificate', () => file('a note'), 'certificates in PEM'],
    [
      'has a damaged one',
      () => file(`${corp}\n${extra.replace('MII', 'AAA')}`),
      'certificates in PEM',
    ],
  ])('names the path of a file that %s', (_what, path, words) => {
    const given = path();
    const found = (): unknown => bundleOf({ SERVICE_CA_BUNDLE: given });
    expect(found).toThrow(`SERVICE_CA_BUNDLE: names the file ${given}`);
    expect(found).toThrow(words);
  });
});
