import { Expo, type ExpoPushMessage } from 'expo-server-sdk';
import { buildConnector, EnvHttpProxyAgent, type Dispatcher } from 'undici';
import { batchesOf } from '../delivery/attempt.js';
import { genericDelivery, type AttemptResult, type PushDelivery } from '../delivery/delivery.js';
import { pushServiceProblem } from '../environment.js';
import { throughProxy } from '../webhook/guarded-post.js';
import { poolWithoutContinue } from '../webhook/interim-responses.js';
import { limitAnswers } from './limited-answers.js';
import {
  isTooBig,
  judgeReceipt,
  judgeTicket,
  projectsIn,
  pushRequestFailure,
  type ReceiptResult,
  type SentTicket,
} from './push-results.js';

export interface ExpoSenderOptions {
  /** Access token for apps that accept only authenticated messages. */
  readonly accessToken?: string;
  /** Base URL of the push service. Default: that of its SDK. */
  readonly baseUrl?: string;
  /** Milliseconds for one request. */
  readonly timeoutMs?: number;
  /** First of the two waits after which the SDK itself retries, for status 429 only. */
  readonly rateLimitDelayMs?: number;
  readonly now?: () => number;
}

const TIMEOUT_MS = 15_000;
const RATE_LIMIT_DELAY_MS = 1_000;
const MAX_ANSWER_BYTES = 1024 * 1024;

/** Sends to phones through the push service. Close it, or its connections keep the process alive. */
export class ExpoSender {
  private readonly expo: Expo;
  private readonly agent: EnvHttpProxyAgent;
  private readonly now: () => number;

  /** @throws TypeError for an address, and for an access token, that no request can use */
  constructor(options: ExpoSenderOptions = {}) {
    const { accessToken, baseUrl, timeoutMs = TIMEOUT_MS } = options;
    const problem = pushServiceProblem(options);
    if (problem !== null) {
      throw new TypeError(`"${problem.option}" ${problem.message}`);
    }
    this.now = options.now ?? Date.now;
    this.agent = new EnvHttpProxyAgent({
      ...throughProxy(timeoutMs),
      connect: buildConnector({ timeout: timeoutMs }),
      maxResponseSize: MAX_ANSWER_BYTES,
      factory: poolWithoutContinue,
    });
    const limited = this.agent.compose(limitAnswers(timeoutMs, MAX_ANSWER_BYTES));
    this.expo = new Expo({
      httpAgent: baseUrl === undefined ? limited : sentTo(baseUrl, limited),
      retryMinTimeout: options.rateLimitDelayMs ?? RATE_LIMIT_DELAY_MS,
      ...(accessToken !== undefined && { accessToken }),
    });
  }

  /** Attempts each delivery once, in batches of 100; results by position. Never rejects. */
  async attempt(deliveries: readonly PushDelivery[]): Promise<AttemptResult[]> {
    const batches = batchesOf(deliveries, Expo.pushNotificationChunkSizeLimit);
    return (await Promise.all(batches.map((batch) => this.sendBatch(batch, true)))).flat();
  }

  /**
   * Requests receipts, at the earliest 15 minutes and at the latest a day after the acceptance.
   * Never rejects: an unanswered request is `pending`.
   */
  async receipts(tickets: readonly SentTicket[]): Promise<ReceiptResult[]> {
    const ids = tickets.map(({ receiptId }) => receiptId);
    const chunks = this.expo.chunkPushNotificationReceiptIds(ids);
    const answers = await Promise.all(
      chunks.map((chunk) => this.expo.getPushNotificationReceiptsAsync(chunk).catch(() => ({}))),
    );
    const receipts = new Map(answers.flatMap((answer) => Object.entries(answer)));
    return tickets.map((ticket) =>
      judgeReceipt(ticket, receipts.get(ticket.receiptId), this.now()),
    );
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }

  private async sendBatch(
    batch: readonly PushDelivery[],
    maySplit: boolean,
  ): Promise<AttemptResult[]> {
    try {
      const messages = batch.map((delivery) => this.messageOf(delivery));
      const tickets = await this.expo.sendPushNotificationsAsync(messages);
      const results = batch.map(({ token }, index) => judgeTicket(tickets[index], token));
      return await this.sendSmaller(batch, results);
    } catch (error) {
      const projects = maySplit ? projectsIn(error) : null;
      const failure = pushRequestFailure(error);
      return projects === null
        ? batch.map(() => failure)
        : this.sendByProject(batch, projects, failure);
    }
  }

  /** Sends messages that were too large again with the generic text. */
  private async sendSmaller(
    batch: readonly PushDelivery[],
    results: readonly AttemptResult[],
  ): Promise<AttemptResult[]> {
    const smaller = batch.map((delivery, index) =>
      isTooBig(results[index]) ? genericDelivery(delivery) : null,
    );
    const again = smaller.filter((delivery) => delivery !== null);
    const answers = again.length === 0 ? [] : await this.sendBatch(again, false);
    return results.map((result, index) => {
      const delivery = smaller[index] ?? null;
      return (delivery && answers[again.indexOf(delivery)]) ?? result;
    });
  }

  /** The service rejects a mixed batch as a whole: each project's messages are sent separately. */
  private async sendByProject(
    batch: readonly PushDelivery[],
    projects: readonly (readonly string[])[],
    otherwise: AttemptResult,
  ): Promise<AttemptResult[]> {
    const results = new Map<PushDelivery, AttemptResult>();
    const send = async (tokens: readonly string[]): Promise<void> => {
      const part = batch.filter((one) => tokens.includes(one.token) && !results.has(one));
      part.forEach((one) => results.set(one, otherwise));
      const partResults = part.length === 0 ? [] : await this.sendBatch(part, false);
      part.forEach((one, index) => results.set(one, partResults[index] ?? otherwise));
    };
    // At the same time, so that slow answers together do not outlast the claim of the batch.
    await Promise.all(projects.map(send));
    return batch.map((delivery) => results.get(delivery) ?? otherwise);
  }

  private messageOf({ message, expiresAt }: PushDelivery): ExpoPushMessage {
    const leftSeconds = Math.ceil((expiresAt - this.now()) / 1000);
    return { ...message, ttl: Math.max(1, Math.min(message.ttl, leftSeconds)) };
  }
}

/** The SDK has no option for the address, so a dispatcher rewrites the URL of each request. */
function sentTo(baseUrl: string, agent: Dispatcher): Dispatcher {
  const { origin, pathname } = new URL(baseUrl);
  const prefix = pathname.replace(/\/+$/, '');
  return agent.compose(
    (dispatch) => (options, handler) =>
      dispatch({ ...options, origin, path: `${prefix}${options.path}` }, handler),
  );
}
