import { Inject, Injectable } from '@nestjs/common';
import * as v from 'valibot';
import { AuditService } from '../../audit/audit.service.js';
import { UUID } from '../../../common/uuid.js';
import { AppError } from '../../../common/errors.js';
import { Runtime } from '../../../common/runtime/runtime.js';
import { authConfig, type AuthSettings } from '../../config/auth.config.js';
import { httpConfig, type HttpSettings } from '../../config/http.config.js';
import {
  drawInvitationCode,
  invitationLink,
  showInvitationCode,
} from '../../../core/protocol/invitation-code.js';
import type { ActOrigin } from '../../storage/repositories/account-admin.repository.js';
import { InvitationRepository } from '../../storage/repositories/invitation.repository.js';
import type { AdminOrigin } from '../access/admin-caller.js';
import type { ActAnswerDto } from '../accounts/admin-accounts.dto.js';
import { readCursor, writeCursor } from '../page-cursor.js';
import type {
  CreatedInvitationDto,
  InvitationPageDto,
  NewInvitationDto,
} from './admin-invitations.dto.js';
import type { PageQueryDto } from '../page.dto.js';

const POSITION = v.object({
  createdAt: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(Date.UTC(9999, 0))),
  id: UUID,
});

@Injectable()
export class AdminInvitationsService {
  constructor(
    private readonly invitations: InvitationRepository,
    private readonly audit: AuditService,
    private readonly runtime: Runtime,
    @Inject(httpConfig.KEY) private readonly http: HttpSettings,
    @Inject(authConfig.KEY) private readonly auth: AuthSettings,
  ) {}

  async create(
    { uses, expiresInSeconds, note = null }: NewInvitationDto,
    { name: actor, address }: AdminOrigin,
  ): Promise<CreatedInvitationDto> {
    const { clock, random } = this.runtime;
    const now = clock.now();
    const code = drawInvitationCode((bound) => random.below(bound));
    const expiresAt = new Date(now + expiresInSeconds * 1000);
    const wanted = { uses, expiresAt, note };
    const by = { actor, address };
    const { id, event } = await this.invitations.create(code, wanted, by, new Date(now));
    this.audit.log(event);
    const formatted = showInvitationCode(code);
    const link = invitationLink(this.http, formatted);
    return { id, code: formatted, link, areAccepted: this.auth.signupInvitationsEnabled };
  }

  /** @throws AppError `invalid-request` for an invalid cursor */
  async page({ limit, cursor }: PageQueryDto): Promise<InvitationPageDto> {
    const { invitations, next } = await this.invitations.page(readCursor(cursor, POSITION), limit);
    const areAccepted = this.auth.signupInvitationsEnabled;
    return { invitations, cursor: writeCursor(next), areAccepted };
  }

  /** @throws AppError `not-found` */
  async revoke(id: string, by: ActOrigin): Promise<ActAnswerDto> {
    const revoked = await this.invitations.revoke(id, by, new Date(this.runtime.clock.now()));
    if (revoked === 'not-found') {
      throw new AppError('not-found');
    }
    if (revoked !== 'unchanged') {
      this.audit.log(revoked);
    }
    return { success: true, changed: revoked !== 'unchanged' };
  }
}
