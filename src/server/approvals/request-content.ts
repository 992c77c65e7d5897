import { AppError, invalidRequest } from '../../common/errors.js';
import { judgeContentWrite } from '../../core/policy/admission/encryption.js';
import type { AccountMode, StoragePolicy } from '../../core/policy/operator-policy.js';
import type { Content } from '../../core/protocol/content.js';
import type { AnsweredRequest } from '../storage/repositories/approvals/agent-request.repository.js';
import type { AnsweredRequestDto, NewRequestDto } from './requests.dto.js';

/**
 * @throws AppError `encrypted-writes-disabled`, `plaintext-writes-disabled`, `content-mode-mismatch`
 */
export function requireContentKind(
  policy: StoragePolicy,
  accountMode: AccountMode,
  contentMode: AccountMode,
): void {
  const decision = judgeContentWrite(policy, accountMode, contentMode);
  if (!decision.isAllowed) {
    throw new AppError(decision.code);
  }
}

/** @throws AppError `invalid-request` unless exactly one of them was sent */
export function contentIn({ sealed, content }: Pick<NewRequestDto, 'sealed' | 'content'>): Content {
  const isPlain = content !== undefined && content !== null;
  if ((sealed === undefined) !== isPlain) {
    throw invalidRequest('', 'Send either sealed or content.');
  }
  return sealed === undefined ? { t: 'plain', v: content } : { t: 'encrypted', c: sealed };
}

/** @param content null = it is left out */
export function toDto(
  { answers, ...request }: AnsweredRequest,
  content: Content | null = null,
): AnsweredRequestDto {
  const shown = content?.t === 'encrypted' ? { sealed: content.c } : { content: content?.v };
  return {
    ...request,
    ...(content !== null && shown),
    answers: answers.map(({ sealed, ...answer }) => ({
      ...answer,
      ...(sealed === null ? { deny: true as const } : { sealed }),
    })),
  };
}
