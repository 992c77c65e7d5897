import { inspect } from 'node:util';
import { GatehouseClient } from './api/api-client.js';
import { GatehouseAdmin } from './api/admin-client.js';
import { AccountContent } from './crypto/account-content.js';
import { DeviceKey } from './crypto/device-key.js';

const TOKEN = 'the-token-of-a-session';
const RESOURCE_TOKEN = 'the-token-for-a-backend';
const RESOURCE = 'https://relay.example';

const logged = (object: object): string =>
  [
    inspect(object, { depth: Infinity }),
    JSON.stringify(object),
    JSON.stringify({ ...object }),
  ].join('\n');

describe('what a log shows of the client kit', () => {
  it('shows no secret of a device key and of account content', async () => {
    const key = await DeviceKey.generate();
    const { publicKey } = key;
    const json = JSON.stringify({ publicKey });
    expect(logged(key)).toBe(`DeviceKey { publicKey: '${publicKey}' }\n${json}\n${json}`);
    const content = new AccountContent(key.bytes, 'a');
    const named = '{"accountId":"a"}';
    expect(logged(content)).toBe(`AccountContent { accountId: 'a' }\n${named}\n${named}`);
  });

  it('shows no token of a client', async () => {
    const options = {
      serverUrl: 'https://gate.example',
      token: TOKEN,
      fetch: () =>
        Promise.resolve(
          new Response(JSON.stringify({ access_token: RESOURCE_TOKEN, expires_in: 600 })),
        ),
    };
    const client = new GatehouseClient(options);
    expect(await client.tokenFor(RESOURCE)).toBe(RESOURCE_TOKEN);
    for (const object of [client, client.withToken(TOKEN), new GatehouseAdmin(options)]) {
      expect(logged(object)).not.toMatch(/the-token/);
    }
  });
});
