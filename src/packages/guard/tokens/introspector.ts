import { createHash } from 'node:crypto';
import { accessFrom, type Access } from '../access.js';
import type { RefusedToken } from '../access-refused.js';
import type { GuardRuntime, GuardSettings } from '../guard-options.js';
import type { IssuerClient } from '../issuer/issuer-client.js';
import { IssuerFault } from '../issuer/issuer-http.js';
import { millisecondsSince, momentOf, type Moment } from '../../../common/runtime/moment.js';
import type { TokenVerifier } from './token-verifier.js';

/** About 1 kB each. */
const MAX_ANSWERS = 10_000;

interface Asked {
  readonly at: Moment;
  readonly answer: Promise<Readonly<Record<string, unknown>>>;
}

/**
 * Asks Gatehouse about each token (RFC 7662), and uses an answer for a time. A token that a stranger made
 * up, or kept, causes no question.
 */
export class Introspector {
  /** Answers by the digest of their token, in the order of the questions. */
  private readonly answers = new Map<string, Asked>();

  constructor(
    private readonly settings: GuardSettings,
    private readonly runtime: GuardRuntime,
    private readonly issuer: IssuerClient,
    private readonly tokens: TokenVerifier,
    private readonly maxAnswers = MAX_ANSWERS,
  ) {}

  async verify(token: string): Promise<Access | RefusedToken> {
    const { issuer, resource } = this.settings;
    const refusal = await this.tokens.findUseless(token);
    if (refusal !== null) {
      return refusal;
    }
    try {
      const claims = await this.ask(token);
      const now = this.runtime.clock.now();
      const access =
        claims['active'] === true
          ? accessFrom(claims, { issuer, resource, now })
          : 'Gatehouse answers that it is not active';
      return typeof access === 'string' ? { code: 'invalid-token', reason: access } : access;
    } catch (error) {
      const reason = error instanceof IssuerFault ? error.message : 'unknown';
      return { code: 'unavailable', reason: `Gatehouse cannot be asked: ${reason}` };
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
      if (this.answers.size <= this.maxAnswers) {
        break;
      }
      this.answers.delete(oldest);
    }
    return asked.answer;
  }
}
