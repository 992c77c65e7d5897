import { DEVICE_VERSION } from '../../../core/protocol/device-version.js';
import type {
  ApprovedDevice,
  DeviceRequest,
  DeviceToken,
  WaitingDevice,
} from '../api/api-client-answers.js';
import type { RequestOf, Routes } from '../api/api-routes.js';
import { GatehouseProblem, ServerUnreachable } from '../api/problem.js';

export type NewDevice = Readonly<Omit<RequestOf<'POST /v2/auth/devices'>['body'], 'v'>>;

/** Adding a device to an account (contract, Adding a device). */
export class DeviceRoutes {
  constructor(private readonly routes: Routes) {}

  /** Requests to be added. `requestDevice` calls it, and checks the answer. */
  request({ publicKey, proofHash, client }: NewDevice): Promise<DeviceRequest> {
    const more = client !== undefined && { client };
    const body = { v: DEVICE_VERSION, publicKey, proofHash, ...more } as const;
    return this.routes.send('POST /v2/auth/devices', { body });
  }

  /**
   * The device of this user code; refused with `not-found`, and with `rate-limited` after three of
   * them in ten minutes. `findDevice` calls it, and checks the answer.
   */
  find(userCode: string): Promise<WaitingDevice> {
    const route = 'GET /v2/auth/devices/{id}';
    return this.routes.send(route, { path: { id: userCode } });
  }

  /**
   * Adds the device to the account of this client's token; refused with `fresh-login-required` where
   * the login of that token is too old. `approveDevice` calls it.
   *
   * @param sealed of `sealAccount`
   */
  async approve(id: string, sealed: string): Promise<void> {
    const request = { path: { id }, body: { sealed } };
    await this.routes.run('POST /v2/auth/devices/{id}/approve', request);
  }

  async refuse(id: string): Promise<void> {
    await this.routes.run('DELETE /v2/auth/devices/{id}', { path: { id } });
  }

  /** Polls once; `waitForApproval` polls until the device is approved or refused. */
  poll(id: string, proof: string): Promise<DeviceToken> {
    const request = { path: { id }, body: { proof } };
    return this.routes.send('POST /v2/auth/devices/{id}/token', request);
  }
}

/** A request lives for ten minutes; the rest is for the last answer. */
const MAX_WAIT_MS = 630_000;

/** The device was refused, or not approved in time. Make a new request to try again. */
export class DeviceNotAdded extends Error {
  override readonly name = 'DeviceNotAdded';

  constructor(readonly reason: 'refused' | 'expired') {
    super(
      reason === 'refused'
        ? 'This device was refused, or the session that approved it has ended.'
        : 'This device was not approved in time.',
    );
  }
}

export interface ApprovalWait {
  /** Waits; rejects to give up. Default: a timer. */
  readonly sleep?: (ms: number) => Promise<void>;
  /** Milliseconds of a clock that cannot be set. Default: `performance.now`. */
  readonly monotonic?: () => number;
}

/**
 * Polls at the interval of the server until the device is approved, for 630 seconds by the clock of
 * this device. Continues while the server cannot be reached or limits the rate. Rejects with {@link DeviceNotAdded}, with what `sleep`
 * rejects with, and with GatehouseProblem for any other refusal, for example `invalid-proof`.
 */
export async function waitForApproval(
  devices: Pick<DeviceRoutes, 'poll'>,
  { id, intervalSeconds }: Pick<DeviceRequest, 'id' | 'intervalSeconds'>,
  proof: string,
  { sleep = sleepFor, monotonic = () => performance.now() }: ApprovalWait = {},
): Promise<ApprovedDevice> {
  const until = monotonic() + MAX_WAIT_MS;
  const interval = Math.max(intervalSeconds, 1);
  let delaySeconds = interval;
  for (let leftMs = MAX_WAIT_MS; leftMs > 0; leftMs = until - monotonic()) {
    await sleep(Math.min(delaySeconds * 1000, leftMs));
    const result = await pollOnce(devices, id, proof);
    if (typeof result === 'object') {
      return result;
    }
    delaySeconds = Math.max(interval, result);
  }
  throw new DeviceNotAdded('expired');
}

/** The approval, or the seconds after which the server allows the next poll; 0 = not specified. */
async function pollOnce(
  devices: Pick<DeviceRoutes, 'poll'>,
  id: string,
  proof: string,
): Promise<ApprovedDevice | number> {
  try {
    const answer = await devices.poll(id, proof);
    if (answer.state === 'refused') {
      throw new DeviceNotAdded('refused');
    }
    return answer.state === 'approved' ? answer : 0;
  } catch (error) {
    if (error instanceof GatehouseProblem && error.isTemporary) {
      return error.retryAfterSeconds ?? 0;
    }
    if (error instanceof GatehouseProblem && error.code === 'not-found') {
      throw new DeviceNotAdded('expired');
    }
    if (error instanceof ServerUnreachable) {
      return 0;
    }
    throw error;
  }
}

function sleepFor(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
