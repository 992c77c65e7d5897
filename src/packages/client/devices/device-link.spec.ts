import { deviceLink, isOlderDeviceLink, readDeviceLink } from './device-link.js';

const KEY = Buffer.from('fbefbe'.padEnd(64, '0'), 'hex').toString('base64url');
const SECRET = Buffer.from('fbefbf'.padStart(64, '1'), 'hex').toString('base64url');
const LINK = {
  ...{ serverUrl: 'https://gate.example/base', userCode: 'WDJB-MJHT' },
  ...{ publicKey: KEY, linkSecret: SECRET },
};

describe('the link of a device', () => {
  it('is read as it was written', () => {
    const text = `https://gate.example/base/app/device#WDJB-MJHT.${KEY}.${SECRET}`;
    expect(deviceLink(LINK)).toBe(text);
    expect(isOlderDeviceLink(text)).toBe(false);
    expect(readDeviceLink(deviceLink(LINK))).toEqual(LINK);
  });

  it('is read with a code in any case and without the dash', () => {
    const text = `https://gate.example/base/app/device#wdjbmjht.${KEY}.${SECRET}`;
    expect(readDeviceLink(text)).toEqual(LINK);
  });

  it.each([
    '',
    'x',
    '#',
    `#WDJB-MJHT.${KEY}.${SECRET}`,
    `/app/device#WDJB-MJHT.${KEY}.${SECRET}`,
    `https://gate.example/app/other#WDJB-MJHT.${KEY}.${SECRET}`,
    `https://gate.example/app/device?x=1#WDJB-MJHT.${KEY}.${SECRET}`,
    `https://user:word@gate.example/app/device#WDJB-MJHT.${KEY}.${SECRET}`,
    `javascript:alert(1)//app/device#WDJB-MJHT.${KEY}.${SECRET}`,
    `file:///app/device#WDJB-MJHT.${KEY}.${SECRET}`,
    `https://gate.example/app/device#WDJB-MJHT`,
    `https://gate.example/app/device#WDJB-MJHT..`,
    `https://gate.example/app/device#WDJB-MJHT..${SECRET}`,
    `https://gate.example/app/device#WDJB-MJHT.${KEY}.`,
    `https://gate.example/app/device#WDJB-MJHT.${KEY}.${SECRET.slice(1)}`,
    `https://gate.example/app/device#WDJB-MJHT.${KEY}.${SECRET}A`,
    `https://gate.example/app/device#WDJB-MJHT.${KEY.slice(1)}.${SECRET}`,
    `https://gate.example/app/device#WDJB-MJHT.${KEY}A.${SECRET}`,
    `https://gate.example/app/device#WDJB-MJHT.${KEY}.${SECRET}.x`,
    `https://gate.example/app/device#ADJB-MJHT.${KEY}.${SECRET}`,
    `https://gate.example/app/device#WDJB-MJHT.${KEY}.${SECRET}#x`,
  ])('is refused as %j', (text) => {
    expect(readDeviceLink(text)).toBeNull();
    expect(isOlderDeviceLink(text)).toBe(false);
  });

  it('is recognised in version 1, and not read', () => {
    const older = `https://gate.example/app/device#WDJB-MJHT.${KEY}`;
    expect(isOlderDeviceLink(older)).toBe(true);
    expect(readDeviceLink(older)).toBeNull();
  });
});
