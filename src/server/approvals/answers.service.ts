import { Inject, Injectable } from '@nestjs/common';
import type { Access } from '../auth/auth.service.js';
import { AppError, invalidRequest } from '../../common/errors.js';
import { Clock } from '../../common/runtime/clock.js';
import { encryptionConfig, type EncryptionSettings } from '../config/encryption.config.js';
import { AgentRequestRepository } from '../storage/repositories/approvals/agent-request.repository.js';
import {
  RequestAnswerRepository,
  type AnswerOutcome,
} from '../storage/repositories/approvals/request-answer.repository.js';
import { RequestNewsService } from './request-news.service.js';
import { requireContentKind, toDto } from './request-content.js';
import type { AnsweredRequestDto, NewAnswerDto } from './requests.dto.js';

/** Answers of sessions, and the end of requests. */
@Injectable()
export class AnswersService {
  constructor(
    private readonly requests: AgentRequestRepository,
    private readonly answers: RequestAnswerRepository,
    private readonly news: RequestNewsService,
    private readonly clock: Clock,
    @Inject(encryptionConfig.KEY) private readonly encryption: EncryptionSettings,
  ) {}

  /**
   * Stores the first answer of a session; the same one again changes nothing.
   *
   * @throws AppError `invalid-request`, `content-mode-mismatch`, `encrypted-writes-disabled`,
   *   `not-found`, `already-answered`, `request-expired`, `token-revoked`
   */
  async answer(caller: Access, id: string, { sealed, deny }: NewAnswerDto): Promise<void> {
    if ((sealed === undefined) === (deny === undefined)) {
      throw invalidRequest('', 'Send either sealed or deny.');
    }
    const { storagePolicy } = this.encryption;
    const stored = await this.answers.answer(
      caller,
      id,
      sealed ?? null,
      this.clock.now(),
      (mode) => sealed !== undefined && requireContentKind(storagePolicy, mode, 'e2ee'),
    );
    if (stored.outcome === 'stored') {
      this.news.answered(caller.accountId, id, stored);
    } else {
      refuseUnlessRepeated(stored.outcome);
    }
  }

  /**
   * Rejects an answer of a request that this session asked.
   *
   * @throws AppError `not-found` where it has asked none of this id
   */
  async reject(caller: Access, id: string, answeredBy: string): Promise<void> {
    if (!(await this.answers.reject(caller, id, answeredBy, this.clock.now()))) {
      throw new AppError('not-found');
    }
  }

  /**
   * Closes a request that this session asked. The first close counts.
   *
   * @param answeredBy the session whose answer was taken; null withdraws
   * @throws AppError `not-found` where it has asked none of this id; `invalid-request` without that
   *   answer
   */
  async close(caller: Access, id: string, answeredBy: string | null): Promise<AnsweredRequestDto> {
    const seq = await this.answers.close(caller, id, answeredBy, this.clock.now());
    if (seq !== null) {
      this.news.closed(caller.accountId, id, seq, answeredBy === null ? 'withdrawn' : 'taken');
    }
    const found = await this.requests.find(caller.accountId, id);
    if (found === null || found.sessionId !== caller.sessionId) {
      throw new AppError('not-found');
    }
    if (seq === null && found.state === 'open') {
      throw invalidRequest('answeredBy', 'That session has given no answer.');
    }
    return toDto(found);
  }
}

/** @throws AppError the refusal */
function refuseUnlessRepeated(outcome: Exclude<AnswerOutcome['outcome'], 'stored'>): void {
  switch (outcome) {
    case 'repeated':
      return;
    case 'refused':
      throw new AppError('already-answered');
    case 'expired':
      throw new AppError('request-expired');
    case 'unknown':
      throw new AppError('not-found');
  }
}
