import { listenHost } from './listen-host.js';

const IPV4 = { lo: [{ family: 'IPv4' as const }] };
const BOTH = { ...IPV4, eth0: [{ family: 'IPv4' as const }, { family: 'IPv6' as const }] };

describe(listenHost.name, () => {
  it.each([
    ['::', BOTH, '::'],
    ['::', IPV4, '0.0.0.0'],
    ['::1', IPV4, '::1'],
    ['127.0.0.1', IPV4, '127.0.0.1'],
    ['localhost', BOTH, 'localhost'],
  ])('listens for %s on a machine with %j on %s', (host, interfaces, expected) => {
    expect(listenHost(host, interfaces)).toBe(expected);
  });
});
