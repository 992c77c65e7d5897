import { Inject, Injectable } from '@nestjs/common';
import type { Access } from '../auth/auth.service.js';
import { AppError, orRefuse } from '../../common/errors.js';
import { Clock } from '../../common/runtime/clock.js';
import { encryptionConfig, type EncryptionSettings } from '../config/encryption.config.js';
import { modeOf } from '../../core/protocol/content.js';
import {
  AgentRequestRepository,
  type AddedRequest,
  type AgentRequest,
  type AgentRequestSummary,
} from '../storage/repositories/approvals/agent-request.repository.js';
import { contentIn, requireContentKind, toDto } from './request-content.js';
import { RequestNewsService } from './request-news.service.js';
import { RequestWaitsService } from './request-waits.service.js';
import type { AnsweredRequestDto, NewRequestDto } from './requests.dto.js';

const DEFAULT_LIFETIME_MS = 10 * 60_000;
const MAX_LIFETIME_MS = 24 * 60 * 60_000;

/** Requests that programs ask, and that devices of their account read. */
@Injectable()
export class RequestsService {
  constructor(
    private readonly requests: AgentRequestRepository,
    private readonly waits: RequestWaitsService,
    private readonly news: RequestNewsService,
    private readonly clock: Clock,
    @Inject(encryptionConfig.KEY) private readonly encryption: EncryptionSettings,
  ) {}

  /**
   * Stores a request; the same one again changes nothing.
   *
   * @throws AppError `invalid-request`, `request-expired`, `content-mode-mismatch`,
   *   `encrypted-writes-disabled`, `plaintext-writes-disabled`, `request-id-used`,
   *   `too-many-open-requests`, `token-revoked`
   */
  async ask(
    caller: Access,
    { id, expiresAt, ...given }: NewRequestDto,
  ): Promise<{ readonly request: AgentRequest; readonly isNew: boolean }> {
    const now = this.clock.now();
    const content = contentIn(given);
    const latest = now + MAX_LIFETIME_MS;
    // An end that is a little too late is moved: the clock of the asking computer may be fast.
    const end = Math.min(expiresAt ?? now + DEFAULT_LIFETIME_MS, latest);
    const added = await this.requests.add(caller, { id, content, expiresAt: end }, now, (mode) => {
      requireContentKind(this.encryption.storagePolicy, mode, modeOf(content));
      if (end <= now) {
        throw new AppError('request-expired');
      }
    });
    if (added.outcome === 'added') {
      this.news.created(caller.accountId, id, added.seq);
    }
    return { request: requestIn(added), isNew: added.outcome === 'added' };
  }

  list(accountId: string): Promise<AgentRequestSummary[]> {
    return this.requests.list(accountId, this.clock.now());
  }

  /** @throws AppError `not-found` */
  async read({ accountId }: Access, id: string): Promise<AnsweredRequestDto> {
    const found = orRefuse(await this.requests.find(accountId, id), 'not-found');
    return toDto(found, await this.requests.contentOf(accountId, id));
  }

  /**
   * Waits for an answer or the end of the request, for `ms` at most.
   *
   * @param gone aborts when the client disconnects
   * @throws AppError `not-found`, `rate-limited`, `unavailable`, and why the session was refused
   *   meanwhile
   */
  async wait(
    caller: Access,
    id: string,
    ms: number,
    gone: AbortSignal,
  ): Promise<AnsweredRequestDto> {
    const found = orRefuse(await this.waits.until(caller, id, ms, gone), 'not-found');
    return toDto(found);
  }
}

/** @throws AppError the refusal */
function requestIn(added: AddedRequest): AgentRequest {
  switch (added.outcome) {
    case 'added':
    case 'known':
      return added.request;
    case 'other-content':
      throw new AppError('request-id-used');
    case 'too-many':
      throw new AppError('too-many-open-requests');
  }
}
