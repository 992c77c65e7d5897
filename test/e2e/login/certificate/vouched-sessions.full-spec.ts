import type { IssuedCertificate } from '../../../fixtures/certificates-fixture.js';
import { call } from '../../../helpers/client.js';
import { waitFor } from '../../../helpers/wait.js';
import { DeviceCalls } from '../../../helpers/device-calls.js';
import {
  files,
  issuing,
  publish,
  revocationLists,
  startDirect,
  type DirectServer,
} from '../../../fixtures/tls-listener-fixture.js';

async function approvedBy({ server }: DirectServer, token: string): Promise<string> {
  const devices = new DeviceCalls(server);
  const device = await devices.newDevice();
  expect((await devices.approve(device.id, token)).status).toBe(200);
  return String((await devices.claimInTime(device)).body['token']);
}

async function loggedIn(direct: DirectServer, own: IssuedCertificate) {
  const { status, body } = await direct.logIn(own);
  expect(status).toBe(200);
  return { own, token: String(body['token']) };
}

const statusOf = async ({ server }: DirectServer, token: string): Promise<number> =>
  (await call(server, 'GET', '/v1/push-tokens', { token })).status;

const claimsOf = (token: string): Record<string, number> =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<
    string,
    number
  >;

const direct = await startDirect({}, { env: { AUTH_OFFBOARDING_INTERVAL_SECONDS: '86400' } });
afterAll(() => direct.server.stop());

describe('revoked certificates', () => {
  it('ends the devices that a certificate session approved, when the person returns', async () => {
    const names = ['email:robbed@corp.example'];
    const stolen = await loggedIn(direct, issuing.issue({ names }));
    const first = await approvedBy(direct, stolen.token);
    const second = await approvedBy(direct, first);
    for (const token of [first, second]) {
      expect(claimsOf(token)['exp']).toBeLessThanOrEqual(claimsOf(stolen.token)['exp'] ?? 0);
      expect(await statusOf(direct, token)).toBe(200);
    }
    issuing.revoke(stolen.own);
    publish({ ...files, 'crl.pem': revocationLists() }, 'robbed');
    await waitFor('the refusal', async () => (await statusOf(direct, stolen.token)) === 403);
    await loggedIn(direct, issuing.issue({ names }));
    for (const token of [first, second, stolen.token]) {
      const answer = await call(direct.server, 'GET', '/v1/account/profile', { token });
      expect(answer).toMatchObject({ status: 401, body: { code: 'token-revoked' } });
    }
  });

  it('ends the devices that an older certificate of a person approved', async () => {
    const names = ['email:renewed@corp.example'];
    const older = await loggedIn(direct, issuing.issue({ names }));
    const device = await approvedBy(direct, older.token);
    const newer = await loggedIn(direct, issuing.issue({ names }));
    const kept = await approvedBy(direct, newer.token);
    issuing.revoke(older.own);
    publish({ ...files, 'crl.pem': revocationLists() }, 'renewed');
    await waitFor('the session to end', async () => {
      const answer = await call(direct.server, 'GET', '/v1/account/profile', { token: device });
      return answer.status === 401 && answer.body['code'] === 'token-revoked';
    });
    expect(await statusOf(direct, kept)).toBe(200);
  });
});
