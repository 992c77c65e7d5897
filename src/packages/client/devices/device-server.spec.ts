import { checkDeviceServer, DeviceServerRefused } from './device-server.js';

const SERVER = 'https://gate.example';

function reasonOf(answer: unknown, serverUrl = SERVER): string {
  try {
    checkDeviceServer(answer, serverUrl);
    return 'accepted';
  } catch (error) {
    expect(error).toBeInstanceOf(DeviceServerRefused);
    return (error as DeviceServerRefused).reason;
  }
}

describe(checkDeviceServer.name, () => {
  it.each<[string, readonly string[]]>([
    [SERVER, [SERVER]],
    [`${SERVER}/base`, ['http://gate.svc', SERVER]],
    ['http://127.0.0.1:3000', []],
    ['http://10.0.0.7', []],
  ])('accepts %s, which lists %j', (serverUrl, origins) => {
    expect(reasonOf({ v: 2, origins }, serverUrl)).toBe('accepted');
  });

  it.each<[string, readonly string[]]>([
    [SERVER, []],
    [SERVER, ['https://other.example']],
    ['https://evil.example', [SERVER]],
    ['http://gate.example', [SERVER]],
    ['http://127.0.0.1:3000', [SERVER]],
  ])('refuses %s, which lists %j', (serverUrl, origins) => {
    expect(reasonOf({ v: 2, origins }, serverUrl)).toBe('other-server');
  });

  it.each([
    ...[null, undefined, {}, { v: 1, origins: [SERVER] }, { v: '2', origins: [SERVER] }],
    ...[
      [undefined],
      [null],
      [7],
      [[SERVER]],
      [`${SERVER} https://evil.example`],
      ['a\nb'],
      [''],
    ].map(([origin]) => ({ v: 2, origins: [origin] })),
    ...[{ v: 2 }, { v: 2, origins: SERVER }, { v: 2, origins: { 0: SERVER, length: 1 } }],
  ])('refuses the answer %j of an older server', (answer) => {
    expect(reasonOf(answer)).toBe('older-server');
  });
});
