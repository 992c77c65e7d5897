import * as v from 'valibot';
import type { Clock } from '../../common/runtime/clock.js';
import { millisecondsSince, momentOf, type Moment } from '../../common/runtime/moment.js';
import type { Transport } from './api/api-client-transport.js';
import { hideFromLogs } from './hide-from-logs.js';
import { isTemporary } from './api/problem.js';

const URN = 'urn:ietf:params:oauth';
/** A token is renewed when a fifth of its life is left. */
const USED_PART = 0.8;

const answer = v.object({
  access_token: v.string(),
  expires_in: v.pipe(v.number(), v.minValue(0)),
});

/** Some engines have no monotonic clock. */
const CLOCK: Clock = {
  now: () => Date.now(),
  elapsed: () => ('performance' in globalThis ? performance.now() : Date.now()),
};

export interface TokenOptions {
  /** Forgets the token that is kept, for example because the backend refused it. */
  readonly renew?: boolean | undefined;
}

interface ResourceToken {
  readonly text: string;
  readonly requestedAt: Moment;
  readonly lifeMs: number;
}

interface Entry {
  readonly token: ResourceToken | null;
  readonly exchange: Promise<ResourceToken> | null;
}

/** Tokens of one session for other backends (RFC 8693). */
export class ResourceTokens {
  private readonly entries = new Map<string, Entry>();

  constructor(
    private readonly transport: Transport,
    private readonly sessionToken: string | undefined,
    private readonly clock: Clock = CLOCK,
  ) {
    hideFromLogs(this, 'sessionToken', 'entries');
  }

  /**
   * Returns a token that is kept, or the one of an exchange, of which there is one at a time. `renew`
   * forgets the kept token first.
   */
  async tokenFor(resource: string, { renew = false }: TokenOptions = {}): Promise<string> {
    const { token: kept = null, exchange = null } = this.entries.get(resource) ?? {};
    const token = renew ? null : kept;
    if (token !== null && this.isWithin(token, USED_PART)) {
      return token.text;
    }
    try {
      return (await (exchange ?? this.renew(resource, token))).text;
    } catch (error) {
      if (isTemporary(error) && token !== null && this.isWithin(token, 1)) {
        return token.text;
      }
      throw error;
    }
  }

  /** Sends a request with a token, and once more with another one if the backend answers 401. */
  async sendTo<Answer extends { readonly status: number }>(
    resource: string,
    send: (token: string) => Promise<Answer>,
  ): Promise<Answer> {
    const token = await this.tokenFor(resource);
    const answer = await send(token);
    if (answer.status !== 401) {
      return answer;
    }
    // Another request may have renewed the token meanwhile.
    const renew = this.entries.get(resource)?.token?.text === token;
    return send(await this.tokenFor(resource, { renew }));
  }

  private renew(resource: string, token: ResourceToken | null): Promise<ResourceToken> {
    const exchange = this.exchange(resource);
    this.entries.set(resource, { token, exchange });
    exchange.then(
      (renewed) => this.entries.set(resource, { token: renewed, exchange: null }),
      () => this.entries.set(resource, { token, exchange: null }),
    );
    return exchange;
  }

  private async exchange(resource: string): Promise<ResourceToken> {
    if (this.sessionToken === undefined) {
      throw new TypeError('tokenFor() needs a client with the token of a session.');
    }
    const requestedAt = momentOf(this.clock);
    const { access_token: text, expires_in: seconds } = await this.transport.send(
      'POST',
      '/v1/oauth/token',
      answer,
      {
        form: {
          grant_type: `${URN}:grant-type:token-exchange`,
          subject_token: this.sessionToken,
          subject_token_type: `${URN}:token-type:access_token`,
          resource,
        },
      },
    );
    return { text, requestedAt, lifeMs: seconds * 1000 };
  }

  private isWithin({ requestedAt, lifeMs }: ResourceToken, part: number): boolean {
    return millisecondsSince(requestedAt, this.clock) < lifeMs * part;
  }
}
