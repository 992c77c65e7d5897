import {
  adoptPin,
  approveDevice,
  deviceKeyWords,
  DeviceKey,
  deviceLink,
  findDevice,
  GatehouseClient,
  makeDeviceSecrets,
  MemoryPins,
  openApproval,
  readDeviceLink,
  requestDevice,
  waitForApproval,
} from '../../../src/packages/client/index.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';

const server = await startServer();
const visitor = new GatehouseClient({ serverUrl: server.url });
afterAll(() => server.stop());

const pin = { mode: 'e2ee', settings: { rev: 3, hash: 'A'.repeat(43) } } as const;

async function signUp() {
  const key = await DeviceKey.generate();
  const { token, accountId } = await visitor.signUp(key);
  return { key, accountId, pin, client: visitor.withToken(token), token };
}

async function newDevice() {
  const secrets = await makeDeviceSecrets();
  const client = { name: 'The new phone', platform: 'ios' };
  const request = await requestDevice(visitor, { ...secrets, client });
  const wait = () => waitForApproval(visitor.devices, request, secrets.proof);
  return { secrets, request, client, wait };
}

describe('adding a device with the client kit', () => {
  it('hands the account over by the link', async () => {
    const owner = await signUp();
    const { secrets, request, client, wait } = await newDevice();
    const waiting = wait();
    const link = deviceLink({ serverUrl: server.url, ...secrets, ...request });
    const seen = readDeviceLink(link)!;
    const { publicKey, linkSecret } = secrets;
    const { userCode } = request;
    expect(seen).toEqual({ serverUrl: server.url, userCode, publicKey, linkSecret });
    const device = await findDevice(owner.client, seen.userCode);
    expect(device).toMatchObject({ id: request.id, publicKey, client });
    const { login, words } = await approveDevice(owner.client, device, owner, seen);
    expect(words).toBeNull();
    expect(login?.token).not.toBe(owner.token);

    const approved = await waiting;
    const opened = await openApproval(secrets, request.origins, approved);
    const account = opened.via === 'link' ? opened.account : null;
    expect(account).toMatchObject({ accountId: owner.accountId, encryptionMode: 'e2ee' });
    expect(account?.key?.secret).toBe(owner.key.secret);
    const pins = new MemoryPins();
    await adoptPin(pins, { mode: 'e2ee', settings: account?.settings ?? null });
    expect(await pins.read()).toEqual(pin);
    const { token } = approved;
    const [session] = await visitor.withToken(token).sessions();
    expect(session).toMatchObject({ method: 'device', client, current: true });
    await visitor.withToken(token).endSession(session!.id);
    await expect(visitor.withToken(token).profile()).rejects.toMatchObject({
      code: 'token-revoked',
    });
  });

  it('hands the account over by a typed code, whose words are compared and typed', async () => {
    const owner = await signUp();
    const { secrets, request, wait } = await newDevice();
    const device = await findDevice(owner.client, request.userCode);
    expect(deviceKeyWords(device)).toEqual(
      deviceKeyWords({ publicKey: secrets.publicKey, origins: request.origins }),
    );
    const { words } = await approveDevice(owner.client, device, owner, null);
    const opened = await openApproval(secrets, request.origins, await wait());
    const { confirm } = opened as Extract<typeof opened, { via: 'code' }>;
    expect(confirm(words!.slice(0, 3).join(' '))).toMatchObject({ accountId: owner.accountId });
  });

  it('reports a refusal of the new device', async () => {
    const owner = await signUp();
    const { request, wait } = await newDevice();
    const waiting = wait();
    await owner.client.devices.refuse(request.id);
    await expect(waiting).rejects.toMatchObject({ name: 'DeviceNotAdded', reason: 'refused' });
  });

  it('ends the new login of a key that is of another account, and seals nothing to another key', async () => {
    const [owner, other] = [await signUp(), await signUp()];
    const { secrets, request } = await newDevice();
    const device = await findDevice(owner.client, request.userCode);
    for (const key of [other.key, await DeviceKey.generate()]) {
      const approving = approveDevice(owner.client, device, { ...owner, key }, null);
      await expect(approving).rejects.toMatchObject({ name: 'OtherAccountKey' });
    }
    expect(await other.client.sessions()).toHaveLength(1);
    const { publicKey } = await makeDeviceSecrets();
    const link = { serverUrl: server.url, ...request, ...secrets, publicKey };
    const swapped = approveDevice(owner.client, device, owner, link);
    await expect(swapped).rejects.toMatchObject({ name: 'DeviceSealError', reason: 'other-key' });
    expect(await findDevice(owner.client, request.userCode)).toMatchObject({ id: request.id });
  });
});
