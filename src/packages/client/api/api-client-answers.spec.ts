import { GatehouseClient } from './api-client.js';

const refused = { code: 'unexpected-answer' };

function clientOf(answer: object): GatehouseClient {
  const fetch = (): Promise<Response> => Promise.resolve(Response.json(answer));
  return new GatehouseClient({ serverUrl: 'https://gate.example', fetch });
}

describe('The answer of a hostile server', () => {
  it.each([
    null,
    { t: 'sealed', c: '2.1.AAAA' },
    { t: 'encrypted', c: 7 },
    { t: 'encrypted' },
    { t: 'plain' },
  ])('is no credential with the content %j, and no settings', async (content) => {
    const answer = { service: 's', content, version: 1, credentials: [{ service: 's', content }] };
    const { credentials, settings } = clientOf(answer);
    await expect(credentials.find('s')).rejects.toMatchObject(refused);
    await expect(credentials.list()).rejects.toMatchObject(refused);
    await (content === null
      ? expect(settings.read()).resolves.toMatchObject({ content })
      : expect(settings.read()).rejects.toMatchObject(refused));
  });

  it.each(['javascript:alert(1)', ' javascript:alert(1)', 'file:///etc/passwd', 'acme://x', '/x'])(
    'has no address to open like %j',
    async (url) => {
      const { external, connect } = clientOf({ url });
      await expect(external.start('okta', {})).rejects.toMatchObject(refused);
      await expect(connect.start('okta')).rejects.toMatchObject(refused);
    },
  );

  it.each([
    { publicKey: 'A'.repeat(42) },
    { publicKey: '' },
    { id: '..' },
    { id: '' },
    { id: '\ud800' },
  ])('names no device like %j', async (facts) => {
    const device = { id: 'i', publicKey: 'A'.repeat(43), client: {}, userCode: 'WDJB-MJHT' };
    const { devices } = clientOf({ ...device, intervalSeconds: 3, ...facts });
    await expect(devices.find('WDJB-MJHT')).rejects.toMatchObject(refused);
  });
});
