import { deviceLink, readDeviceLink } from './device-link.js';

const KEY = Buffer.from('fbefbe'.padEnd(64, '0'), 'hex').toString('base64url');
const LINK = { serverUrl: 'https://gate.example/base', userCode: 'WDJB-MJHT', publicKey: KEY };

describe('the link of a device', () => {
  it('is read as it was written', () => {
    expect(deviceLink(LINK)).toBe(`https://gate.example/base/app/device#WDJB-MJHT.${KEY}`);
    expect(readDeviceLink(deviceLink(LINK))).toEqual(LINK);
  });

  it('is read with a code in any case and without the dash', () => {
    const text = `https://gate.example/base/app/device#wdjbmjht.${KEY}`;
    expect(readDeviceLink(text)).toEqual(LINK);
  });

  it.each([
    '',
    'x',
    '#',
    `#WDJB-MJHT.${KEY}`,
    `/app/device#WDJB-MJHT.${KEY}`,
    `https://gate.example/app/other#WDJB-MJHT.${KEY}`,
    `https://gate.example/app/device?x=1#WDJB-MJHT.${KEY}`,
    `https://user:word@gate.example/app/device#WDJB-MJHT.${KEY}`,
    `javascript:alert(1)//app/device#WDJB-MJHT.${KEY}`,
    `file:///app/device#WDJB-MJHT.${KEY}`,
    `https://gate.example/app/device#WDJB-MJHT`,
    `https://gate.example/app/device#WDJB-MJHT.`,
    `https://gate.example/app/device#WDJB-MJHT.${KEY.slice(1)}`,
    `https://gate.example/app/device#WDJB-MJHT.${KEY}A`,
    `https://gate.example/app/device#WDJB-MJHT.${KEY}.x`,
    `https://gate.example/app/device#ADJB-MJHT.${KEY}`,
    `https://gate.example/app/device#WDJB-MJHT.${KEY}#x`,
  ])('is refused as %j', (text) => {
    expect(readDeviceLink(text)).toBeNull();
  });
});
