import { networkInterfaces } from 'node:os';
import {
  isPublicAddress,
  isWithin,
  parseAddress,
  parseNetwork,
} from '../../../common/addresses.js';
import { DestinationGuard, networksOfThisMachine, type ResolveAll } from './destination-guard.js';
import {
  closeAll,
  oneTry,
  receiverThat,
  senderWith,
} from '../../../../test/fixtures/webhook-fixture.js';

afterEach(closeAll);

const isPublic = (text: string): boolean | null => {
  const address = parseAddress(text);
  return address === null ? null : isPublicAddress(address);
};

describe(isPublicAddress.name, () => {
  it.each(
    `
    168.63.129.16 0.0.0.0 0.255.255.255 10.0.0.1 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.1
    127.255.255.254 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.8 192.0.2.1 192.88.99.1
    192.168.1.1 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.255
    240.0.0.1 255.255.255.255
    :: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.1.2.3 ::ffff:169.254.169.254
    64:ff9b::a00:1 64:ff9b::8.8.8.8 64:ff9b:1::1 100::1 100:0:0:1::1 2001::1 2001:10::1 2001:20::1
    2001:db8::1 2002:7f00:1::1 2002:a00:1:: 3fff::1 3fff:fff:ffff::1 5f00::1 fc00::1
    fdff:ffff::1 fe80::1 febf::1 fec0::1 ff02::1 ff0e::1 4000::1 1fff:ffff::1
  `
      .trim()
      .split(/\s+/),
  )('refuses %s', (address) => {
    expect(isPublic(address)).toBe(false);
  });

  it.each(
    `
    1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1
    169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.1 192.167.255.255 192.169.0.0
    198.17.255.255 198.20.0.0 223.255.255.255 ::ffff:8.8.8.8
    2000::1 2001:200::1 2001:4860:4860::8888 2003::1 2606:4700:4700::1111 3ffe::1 3fff:1000::1
  `
      .trim()
      .split(/\s+/),
  )('allows %s', (address) => {
    expect(isPublic(address)).toBe(true);
  });
});

describe(parseAddress.name, () => {
  it.each([
    ['1.2.3.4', [1, 2, 3, 4]],
    ['::', Array(16).fill(0)],
    ['1::', [0, 1, ...Array<number>(14).fill(0)]],
    ['::1.2.3.4', [...Array<number>(12).fill(0), 1, 2, 3, 4]],
    ['1:2:3:4:5:6:7:8', [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8]],
    ['1:2:3:4:5:6:1.2.3.4', [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 1, 2, 3, 4]],
  ])('reads %s', (text, bytes) => {
    expect(parseAddress(text)?.toByteArray()).toEqual(bytes);
  });

  it.each(
    '1.2.3|1.2.3.4.5|01.2.3.4|256.1.1.1|1.2.3.x|0x7f.0.0.1|1::2::3|:::|1:2:3:4:5:6:7|1:2:3:4:5:6:7:8:9|12345::|fe80::1%eth0|1.2.3.4::|::1.2.3|example|'.split(
      '|',
    ),
  )('finds no address in %j', (text) => {
    expect(parseAddress(text)).toBeNull();
  });
});

const REFUSED = { state: 'failed', code: 'destination-refused', isTemporary: false };
const to =
  (...addresses: string[]): ResolveAll =>
  (_hostname, done) => {
    const found = addresses.map((address) => ({
      address,
      family: address.includes(':') ? 6 : 4,
    }));
    done(null, found);
  };

describe('A sender', () => {
  it.each([
    ...['127.0.0.1', '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]'],
    ...['localhost', 'app.localhost', 'localhost.'],
  ])('sends nothing to http://%s', async (host) => {
    const receiver = await receiverThat();
    const url = `http://${host}:${receiver.port}/`;
    expect(await oneTry(url, { privateHosts: [] })).toMatchObject(REFUSED);
    const strict = { denyPrivate: true, privateHosts: ['*'] };
    expect(await oneTry(url, strict)).toMatchObject(REFUSED);
    expect(receiver.received).toEqual([]);
  });

  it('checks the address of a name, not the name', async () => {
    const receiver = await receiverThat();
    const options = { privateHosts: [], resolve: to('127.0.0.1') };
    expect(await oneTry(`http://hook.example:${receiver.port}/`, options)).toMatchObject(REFUSED);
    expect(receiver.received).toEqual([]);
  });

  it('refuses a name with a private and a public address', async () => {
    const options = { privateHosts: [], resolve: to('93.184.215.14', '10.0.0.1') };
    expect(await oneTry('http://hook.example/', options)).toMatchObject(REFUSED);
  });

  it('resolves a name once, so that a second answer has no effect', async () => {
    const receiver = await receiverThat();
    let asked = 0;
    const rebinding: ResolveAll = (hostname, done) => {
      asked += 1;
      to(asked === 1 ? '192.0.2.1' : '127.0.0.1')(hostname, done);
    };
    const options = { privateHosts: [], resolve: rebinding };
    await oneTry(`http://hook.example:${receiver.port}/`, options);
    expect(asked).toBe(1);
    expect(receiver.received).toEqual([]);
  });

  describe('in a network with public addresses', () => {
    const ownNetworks = () => ['93.184.215.14/24', '2606:4700:1::7/64'].map(parseNetwork);
    const own = () => ownNetworks().filter((network) => network !== null);
    const guard = (privateHosts: readonly string[] = [], resolve?: ResolveAll) =>
      new DestinationGuard(privateHosts, resolve, own);
    const found = (hostname: string, one: DestinationGuard) =>
      new Promise((done) => one.lookup(hostname, {}, (error, address) => done(error ?? address)));

    it.each(['93.184.215.14', '93.184.215.1', '[::ffff:93.184.215.1]', '[2606:4700:1::1]'])(
      'refuses %s, which may trust its neighbours',
      async (host) => {
        expect(guard().refuses(host)).toBe(true);
        expect(guard(['93.184.215.0/24', '2606:4700:1::/64']).refuses(host)).toBe(false);
        const address = host.replace(/^\[|\]$/g, '');
        expect(await found('hook.example', guard([], to(address)))).toMatchObject({
          code: 'destination-refused',
        });
        expect(await found('hook.example', guard(['hook.example'], to(address)))).toBe(address);
      },
    );

    it.each(['93.184.216.1', '[2606:4700:2::1]'])('connects to %s', (host) => {
      expect(guard().refuses(host)).toBe(false);
    });
  });

  it('finds the networks of this machine', () => {
    const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    expect(addresses.length).toBeGreaterThan(0);
    for (const { address } of addresses) {
      expect(isWithin(parseAddress(address)!, networksOfThisMachine())).toBe(true);
    }
  });

  it('reports that a name has no address', async () => {
    const resolve: ResolveAll = (_hostname, done) =>
      done(Object.assign(new Error('no'), { code: 'ENOTFOUND' }), []);
    expect(await oneTry('http://hook.example/', { resolve })).toMatchObject({
      code: 'host-not-found',
    });
  });

  it.each([
    ['127.0.0.1', '127.0.0.0/8'],
    ['127.0.0.1', '127.0.0.1'],
    ['127.0.0.1', '*'],
    ['localhost', 'LOCALHOST'],
    ['localhost', '127.0.0.1'],
    ['app.localhost', '127.0.0.0/8'],
    ['localhost', '0.0.0.0/0'],
    ['hook.lan', '::ffff:127.0.0.1'],
    ['hook.lan.', 'hook.lan'],
    ['hook.lan', '127.0.0.0/31'],
  ])('sends to http://%s where %s is permitted', async (host, permitted) => {
    const receiver = await receiverThat();
    const options = { privateHosts: ['10.0.0.0/8', permitted], resolve: to('127.0.0.1') };
    expect(await oneTry(`http://${host}:${receiver.port}/`, options)).toEqual({ state: 'sent' });
  });

  it('connects to the permitted addresses of localhost alone', async () => {
    const receiver = await receiverThat();
    const url = `http://localhost:${receiver.port}/`;
    const both = to('::1', '127.0.0.1');
    expect(await oneTry(url, { privateHosts: ['127.0.0.1'], resolve: both })).toEqual({
      state: 'sent',
    });
    expect(await oneTry(url, { privateHosts: ['::1'], resolve: both })).toMatchObject({
      state: 'failed',
    });
    const elsewhere = { privateHosts: ['127.0.0.1'], resolve: to('192.0.2.1', '93.184.215.14') };
    expect(await oneTry(url, elsewhere)).toMatchObject(REFUSED);
    expect(receiver.received).toHaveLength(1);
  });

  it.each([
    ['hook.lan', 'lan'],
    ['hook.lan', '127.0.0.2'],
    ['hook.lan', '127.0.0.2/31'],
    ['a.hook.lan', 'hook.lan'],
    ['127.0.0.1', 'localhost'],
    ['localhost', '10.0.0.0/8'],
    ['localhost', '127.0.0.2'],
  ])('sends nothing to http://%s where only %s is permitted', async (host, permitted) => {
    const receiver = await receiverThat();
    const options = { privateHosts: [permitted], resolve: to('127.0.0.1') };
    expect(await oneTry(`http://${host}:${receiver.port}/`, options)).toMatchObject(REFUSED);
    expect(receiver.received).toEqual([]);
  });

  it.each(['http://a', 'a b', '10.0.0.0/33', 'a:80', '10.0.0.256', '', '.'])(
    'refuses to start with %j as a host',
    (host) => {
      expect(() => senderWith({ privateHosts: [host] })).toThrow(TypeError);
    },
  );
});
