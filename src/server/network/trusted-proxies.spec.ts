import type { IncomingMessage } from 'node:http';
import { clientAddress, trustOf } from './trusted-proxies.js';

const isTrusted = trustOf(['10.0.0.0/8', 'fd00::/8']);

function request(peer: string, forwarded?: string): IncomingMessage {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return { headers, socket: { remoteAddress: peer } } as unknown as IncomingMessage;
}

describe(clientAddress.name, () => {
  it.each([
    ['203.0.113.78', '203.0.113.78'],
    ['203.0.113.78:4711', '203.0.113.78'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:4711', '2001:db8::1'],
    ['2001:db8::1', '2001:db8::1'],
    ['6.6.6.6, 203.0.113.78:4711', '203.0.113.78'],
    ['203.0.113.78:4711, 10.0.0.2:80', '203.0.113.78'],
    [' , 203.0.113.78 ,, 10.0.0.2,', '203.0.113.78'],
    ['10.0.0.3, 10.0.0.2', '10.0.0.3'],
  ])('reads the forwarded entry %j without port and brackets', (header, address) => {
    expect(clientAddress(request('10.0.0.1', header), isTrusted)).toBe(address);
  });

  it.each([
    ...['', 'unknown', '_hidden', 'client.example', '203.0.113.78:', '203.0.113.78:123456'],
    ...['203.0.113.078', '[203.0.113.78', '203.0.113.78:47a', '[::1]x', ':4711', '6.6.6.6, -'],
  ])('is that of the peer when the forwarded entry %j is no address', (header) => {
    expect(clientAddress(request('10.0.0.1', header), isTrusted)).toBe('10.0.0.1');
  });

  it('is that of the proxy that reported an entry which is no address', () => {
    const header = '6.6.6.6, unknown, 10.0.0.2';
    expect(clientAddress(request('10.0.0.1', header), isTrusted)).toBe('10.0.0.2');
  });

  it('is IPv4 for a mapped peer, which the ranges of trusted proxies include', () => {
    expect(clientAddress(request('::ffff:192.0.2.1'), isTrusted)).toBe('192.0.2.1');
    const header = '203.0.113.78';
    expect(clientAddress(request('::ffff:10.0.0.1', header), isTrusted)).toBe(header);
    expect(clientAddress(request('::ffff:zz'), isTrusted)).toBe('::ffff:zz');
  });

  it('ignores the header of a peer that is not trusted', () => {
    expect(clientAddress(request('192.0.2.1', '203.0.113.78:4711'), isTrusted)).toBe('192.0.2.1');
    expect(clientAddress(request('192.0.2.1'), isTrusted)).toBe('192.0.2.1');
  });
});
