import {
  isDeviceRequest,
  isDeviceToken,
  isSuccess,
  isWaitingDevice,
  type DeviceRequest,
  type DeviceToken,
  type WaitingDevice,
} from './api-client-answers.js';
import type { RequestOf, Routes } from './api-routes.js';

type Asking = Readonly<RequestOf<'POST /v2/auth/devices'>['body']>;

/** Adding a device to an account (contract, Adding a device). */
export class DeviceRoutes {
  constructor(private readonly routes: Routes) {}

  /** Asks to be added: show the user code or a link of it, and wait for the token. */
  request({ publicKey, proofHash, client }: Asking): Promise<DeviceRequest> {
    const body = { publicKey, proofHash, ...(client !== undefined && { client }) };
    return this.routes.send('POST /v2/auth/devices', { body }, isDeviceRequest);
  }

  /**
   * The device that shows this user code; refused with `not-found`, and with `rate-limited` after
   * five of them in ten minutes. Its key is what the server says: use that of the QR code, or have
   * the check words compared.
   */
  find(userCode: string): Promise<WaitingDevice> {
    const route = 'GET /v2/auth/devices/{id}';
    return this.routes.send(route, { path: { id: userCode } }, isWaitingDevice);
  }

  /**
   * Adds the device to the account of this client's token; refused with `fresh-login-required` where
   * that is of a login some time ago.
   *
   * @param sealed the account's secret by `sealForDevice`; accounts without a device key have none
   */
  async approve(id: string, sealed?: string): Promise<void> {
    const request = { path: { id }, body: { ...(sealed !== undefined && { sealed }) } };
    await this.routes.send('POST /v2/auth/devices/{id}/approve', request, isSuccess);
  }

  async refuse(id: string): Promise<void> {
    await this.routes.send('DELETE /v2/auth/devices/{id}', { path: { id } }, isSuccess);
  }

  /** One question whether the device was approved; `waitForApproval` asks until there is an answer. */
  poll(id: string, proof: string): Promise<DeviceToken> {
    const request = { path: { id }, body: { proof } };
    return this.routes.send('POST /v2/auth/devices/{id}/token', request, isDeviceToken);
  }
}
