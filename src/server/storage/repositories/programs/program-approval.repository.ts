import { Injectable } from '@nestjs/common';
import { orRefuse } from '../../../../common/errors.js';
import { holdAccounts } from '../../account-row.js';
import { DatabaseService, type Transaction } from '../../database.service.js';
import { ExternalFlowRepository } from '../one-time.repository.js';
import type { Judgement } from '../oauth/resource-session.repository.js';
import {
  ProgramGrantRepository,
  type AddedGrant,
  type NewGrant,
} from './program-grant.repository.js';
import { ProgramTokenRepository } from './program-token.repository.js';

/** The requests of programs until a person answers them. */
@Injectable()
export class ProgramApprovalRepository {
  constructor(
    private readonly database: DatabaseService,
    private readonly flows: ExternalFlowRepository,
    private readonly grants: ProgramGrantRepository,
    private readonly tokens: ProgramTokenRepository,
  ) {}

  /** @returns null when there is none, or it has expired */
  read<Request>(id: string): Promise<Request | null> {
    return this.flows.read('program-request', id);
  }

  /** As {@link read}, to exactly one caller. */
  take<Request>(id: string): Promise<Request | null> {
    return this.flows.take('program-request', id);
  }

  /** Returns the end of the certificate that vouches for a session; null = there is none. */
  certificateEnd(sessionId: string): Promise<number | null> {
    return this.grants.certificateEnd(sessionId);
  }

  /**
   * Consumes the request and stores its grant, with the account held: an end of access is either
   * seen by `decide`, or finds the grant.
   * @param decide throws to refuse; the request is then kept
   * @throws AppError `request-expired`, `token-revoked`
   */
  approve<Request>(
    id: string,
    accountId: string,
    now: Date,
    decide: (request: Request, tx: Transaction) => Promise<NewGrant>,
  ): Promise<{ readonly request: Request; readonly added: AddedGrant }> {
    return this.database.transaction(async (tx) => {
      await holdAccounts(tx, [accountId]);
      const taken = await this.flows.take<Request>('program-request', id, tx);
      const request = orRefuse(taken, 'request-expired');
      const added = await this.grants.add(tx, await decide(request, tx), now);
      return { request, added };
    });
  }

  /**
   * Stores a grant without a code: it can be refreshed at once. The account is held as in
   * {@link approve}.
   * @param decide throws to refuse
   * @returns the grant with the key of its refresh tokens
   * @throws AppError `token-revoked`
   */
  addFile(
    accountId: string,
    now: Date,
    decide: (tx: Transaction) => Promise<{ grant: NewGrant; judgement: Judgement }>,
  ): Promise<AddedGrant & { readonly refreshKey: Buffer }> {
    return this.database.transaction(async (tx) => {
      await holdAccounts(tx, [accountId]);
      const { grant, judgement } = await decide(tx);
      const added = await this.grants.add(tx, grant, now);
      const use = { judgement, address: grant.address, generation: 0, supersededAt: [] };
      const unused = { id: added.id, refreshKey: null };
      const { refreshKey } = await this.tokens.use(tx, unused, use, now);
      return { ...added, refreshKey };
    });
  }
}
