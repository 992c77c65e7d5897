import { randomBytes } from 'node:crypto';
import {
  approveWithKey,
  deviceCheckWords,
  DeviceKey,
  deviceLink,
  GatehouseClient,
  makeDeviceSecrets,
  openSealedSecret,
  readDeviceLink,
  sealForDevice,
  waitForApproval,
} from '../../../src/client/index.js';
import { logIn, type Login } from '../../helpers/client.js';
import { type Server, startServer } from '../../fixtures/programs/server-fixture.js';

describe('adding a device with the client kit', () => {
  let server: Server;
  let visitor: GatehouseClient;
  let login: Login;

  beforeAll(async () => {
    server = await startServer();
    visitor = new GatehouseClient({ serverUrl: server.url });
    login = await logIn(server);
  });

  afterAll(() => server.stop());

  it('transfers the account by the link only', async () => {
    const secrets = await makeDeviceSecrets();
    const client = { name: 'The new phone', platform: 'ios' };
    const request = await visitor.devices.request({ ...secrets, client });
    const link = deviceLink({ serverUrl: server.url, ...secrets, ...request });
    const waiting = waitForApproval(visitor.devices, request, secrets.proof);

    const owner = visitor.withToken(login.token);
    const seen = readDeviceLink(link);
    expect(seen).toEqual({
      serverUrl: server.url,
      userCode: request.userCode,
      publicKey: secrets.publicKey,
    });
    const device = await owner.devices.find(seen!.userCode);
    expect(device).toMatchObject({ id: request.id, publicKey: seen!.publicKey, client });
    expect(deviceCheckWords(device.publicKey)).toEqual(deviceCheckWords(secrets.publicKey));
    const secret = Uint8Array.from(randomBytes(32));
    await owner.devices.approve(device.id, await sealForDevice(seen!.publicKey, secret));

    const { token, accountId, sealed } = await waiting;
    expect(accountId).toBe(login.accountId);
    expect(await openSealedSecret(secrets, sealed ?? '')).toEqual(secret);
    const [session] = await visitor.withToken(token).sessions();
    expect(session).toMatchObject({ method: 'device', client, current: true });
    await visitor.withToken(token).endSession(session!.id);
    await expect(visitor.withToken(token).profile()).rejects.toMatchObject({
      code: 'token-revoked',
    });
  });

  it('reports a refusal of the new device', async () => {
    const secrets = await makeDeviceSecrets();
    const request = await visitor.devices.request(secrets);
    await visitor.withToken(login.token).devices.refuse(request.id);
    await expect(waitForApproval(visitor.devices, request, secrets.proof)).rejects.toMatchObject({
      name: 'DeviceNotAdded',
      reason: 'refused',
    });
  });
});

describe('approving with the key of an account', () => {
  it('continues with a new session, and ends it when the key is of another account', async () => {
    const server = await startServer();
    try {
      const visitor = new GatehouseClient({ serverUrl: server.url });
      const [key, otherKey] = await Promise.all([DeviceKey.generate(), DeviceKey.generate()]);
      const { token, accountId } = await visitor.signUp(key);
      const other = await visitor.signUp(otherKey);
      const secrets = await makeDeviceSecrets();
      const request = await visitor.devices.request(secrets);
      const device = { ...request, ...secrets };
      const owner = visitor.withToken(token);
      for (const wrong of [otherKey, await DeviceKey.generate()]) {
        await expect(
          approveWithKey(owner, device, { accountId, key: wrong }),
        ).rejects.toMatchObject({
          name: 'OtherAccountKey',
        });
      }
      expect(await visitor.withToken(other.token).sessions()).toHaveLength(1);
      const login = await approveWithKey(owner, device, { accountId, key });
      expect(login).toMatchObject({ accountId, created: false });
      expect(login.token).not.toBe(token);
      const added = await waitForApproval(visitor.devices, request, secrets.proof);
      expect(await openSealedSecret(secrets, added.sealed ?? '')).toEqual(key.bytes);
    } finally {
      await server.stop();
    }
  });
});
