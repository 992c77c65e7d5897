import { createHash } from 'node:crypto';
import { accessFrom, type Access } from '../access.js';
import type { RefusalCode } from '../access-refused.js';
import type { GuardRuntime, GuardSettings } from '../guard-options.js';
import type { IssuerClient } from '../issuer/issuer-client.js';
import { millisecondsSince, momentOf, type Moment } from '../../common/runtime/moment.js';

/** About 1 kB each. */
const MAX_ANSWERS = 10_000;

interface Asked {
  readonly at: Moment;
  readonly answer: Promise<Readonly<Record<string, unknown>>>;
}

/** Asks Gatehouse about each token (RFC 7662), and uses an answer for a time. */
export class Introspector {
  /** Answers by the digest of their token, in the order of the questions. */
  private readonly answers = new Map<string, Asked>();

  constructor(
    private readonly settings: GuardSettings,
    private readonly runtime: GuardRuntime,
    private readonly issuer: IssuerClient,
  ) {}

  /** @returns the access, or the reason of a refusal */
  async verify(token: string): Promise<Access | RefusalCode> {
    const { issuer, resource } = this.settings;
    try {
      const claims = await this.ask(token);
      const now = this.runtime.clock.now();
      const access = claims['active'] === true && accessFrom(claims, { issuer, resource, now });
      return access || 'invalid-token';
    } catch {
      return 'unavailable';
    }
  }

  private ask(token: string): Asked['answer'] {
    const { clock } = this.runtime;
    const key = createHash('sha256').update(token).digest('base64');
    const known = this.answers.get(key);
    if (known !== undefined && millisecondsSince(known.at, clock) < (this.settings.cacheMs ?? 0)) {
      return known.answer;
    }
    const asked = { at: momentOf(clock), answer: this.issuer.introspect(token) };
    this.answers.delete(key);
    this.answers.set(key, asked);
    // A failure is not kept: the next request asks again.
    asked.answer.catch(() => this.answers.get(key) === asked && this.answers.delete(key));
    for (const oldest of this.answers.keys()) {
      if (this.answers.size <= MAX_ANSWERS) {
        break;
      }
      this.answers.delete(oldest);
    }
    return asked.answer;
  }
}
