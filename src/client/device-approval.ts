import type { ApprovedDevice, DeviceRequest } from './api-client-answers.js';
import type { DeviceRoutes } from './device-routes.js';
import { GatehouseProblem, ServerUnreachable } from './problem.js';

/** A request lives for ten minutes; a little more for the last answer to arrive. */
const MAX_WAIT_SECONDS = 630;

/** The device was not added: it was refused, or not answered in time. Make a new request to try again. */
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

/** How to wait. */
export interface ApprovalWait {
  /** Waits; rejects to give up. Default: a timer. */
  readonly sleep?: (ms: number) => Promise<void>;
}

/**
 * Asks, at the interval of the server, until the device was approved. Goes on while the server
 * cannot be reached or asks for patience. Rejects with {@link DeviceNotAdded}, with what `sleep`
 * rejects with, and with GatehouseProblem for any other refusal, for example `invalid-proof`.
 */
export async function waitForApproval(
  devices: Pick<DeviceRoutes, 'poll'>,
  { id, intervalSeconds }: Pick<DeviceRequest, 'id' | 'intervalSeconds'>,
  proof: string,
  { sleep = sleepFor }: ApprovalWait = {},
): Promise<ApprovedDevice> {
  const interval = Math.max(intervalSeconds, 1);
  let delaySeconds = interval;
  for (let waited = delaySeconds; waited <= MAX_WAIT_SECONDS; waited += delaySeconds) {
    await sleep(delaySeconds * 1000);
    const asked = await ask(devices, id, proof);
    if (typeof asked === 'object') {
      return asked;
    }
    delaySeconds = Math.max(interval, asked);
  }
  throw new DeviceNotAdded('expired');
}

/** The approval, or how many seconds the server wants to be left alone; 0 = it does not say. */
async function ask(
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
