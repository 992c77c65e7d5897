import {
  certificateDirectory,
  TestAuthority,
} from '../../../../test/fixtures/certificates-fixture.js';
import { startLocalServer, type LocalServer } from '../../../../test/helpers/local-server.js';
import { PATIENT_LIMITS } from '../../../../test/fixtures/provider-settings-fixture.js';
import { Runtime } from '../../../common/runtime/runtime.js';
import { resolveSettings } from '../../config/resolve-settings.js';
import { UpstreamConnectionsService } from './upstream-connections.service.js';
import { UpstreamHttp } from './upstream-http.js';

const directory = certificateDirectory();
const authority = TestAuthority.root(directory, 'Corp');
const certificate = authority.issue({
  names: ['DNS:localhost', 'IP:127.0.0.1'],
  usage: 'serverAuth',
});
const { network } = resolveSettings({ SERVICE_CA_BUNDLE: authority.certPath }).settings;
const connections = new UpstreamConnectionsService(network);
let requests = 0;
let secure: LocalServer;
let plain: LocalServer;

beforeAll(async () => {
  const answer = () => ((requests += 1), { status: 200, json: { keys: [] } });
  secure = await startLocalServer(answer, { ...certificate, name: 'localhost' });
  plain = await startLocalServer(answer);
});
beforeEach(() => (requests = 0));
afterAll(() => Promise.all([secure.close(), plain.close(), connections.onApplicationShutdown()]));

const httpOf = (issuer: string) =>
  new UpstreamHttp(new Runtime(), connections, { ...PATIENT_LIMITS, issuer });

describe('addresses that an issuer names', () => {
  it.each([
    ['plain http on a loopback address', () => plain.url],
    ['a loopback address', () => secure.url.replace('localhost', '127.0.0.1')],
    ['a mapped loopback address', () => secure.url.replace('localhost', '[::ffff:127.0.0.1]')],
    ['a name that resolves to a loopback address', () => secure.url],
    ['an address of a private network', () => 'https://10.0.0.1'],
    ['the metadata service of a cloud', () => 'https://169.254.169.254'],
  ])('refuses addresses of a public issuer: %s', async (_what, address) => {
    const http = httpOf('https://idp.example.invalid');
    await expect(http.fetch(address())).rejects.toMatchObject({ failure: 'insecure_address' });
    expect(requests).toBe(0);
  });

  it('refuses addresses of this machine for an issuer of a private network', async () => {
    const http = httpOf('https://10.9.8.7');
    await expect(http.fetch(secure.url)).rejects.toMatchObject({ failure: 'insecure_address' });
    expect(requests).toBe(0);
  });

  it('refuses plain http for an issuer with https, on loopback as well', async () => {
    const http = httpOf(secure.url);
    await expect(http.fetch(plain.url)).rejects.toMatchObject({ failure: 'insecure_address' });
    expect((await http.fetch(secure.url.replace('localhost', '127.0.0.1'))).status).toBe(200);
    expect(requests).toBe(1);
  });

  it('accepts addresses of an issuer with http on loopback', async () => {
    const http = httpOf('http://127.0.0.1:1');
    expect((await http.fetch(plain.url.replace('127.0.0.1', 'localhost'))).status).toBe(200);
    expect((await http.fetch(secure.url)).status).toBe(200);
  });
});
