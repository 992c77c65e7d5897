import { randomInt } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import * as v from 'valibot';
import { AuditLog } from '../../audit/audit-log.js';
import { Clock } from '../../common/clock.js';
import { AppError } from '../../common/errors.js';
import { authConfig } from '../../config/auth.config.js';
import { httpConfig } from '../../config/http.config.js';
import {
  drawInvitationCode,
  invitationLink,
  showInvitationCode,
} from '../../policy/flow/invitation-code.js';
import { InvitationRepository } from '../../storage/repositories/invitation.repository.js';
import type { AdminCaller } from '../access/admin-caller.js';
import type { ActAnswerDto } from '../accounts/admin-accounts.dto.js';
import { readCursor, writeCursor } from '../page-cursor.js';
import type {
  CreatedInvitationDto,
  InvitationPageDto,
  InvitationQueryDto,
  NewInvitationDto,
} from './admin-invitations.dto.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const POSITION = v.object({
  createdAt: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(Date.UTC(9999, 0))),
  id: v.pipe(v.string(), v.regex(UUID)),
});

/** How administrators make, see and revoke invitations. */
@Injectable()
export class AdminInvitationsService {
  constructor(
    private readonly invitations: InvitationRepository,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
    @Inject(httpConfig.KEY) private readonly http: ConfigType<typeof httpConfig>,
    @Inject(authConfig.KEY) private readonly auth: ConfigType<typeof authConfig>,
  ) {}

  async create(
    { uses, expiresInSeconds, note = null }: NewInvitationDto,
    { name: actor }: AdminCaller,
  ): Promise<CreatedInvitationDto> {
    const now = this.clock.now();
    const code = drawInvitationCode((bound) => randomInt(bound));
    const expiresAt = new Date(now + expiresInSeconds * 1000);
    const wanted = { uses, expiresAt, note };
    const id = await this.invitations.create(code, wanted, actor, new Date(now));
    this.audit.log({
      ...{ kind: 'invitation-created', actor, accountId: null, invitationId: id },
      ...(note !== null && { reason: note }),
    });
    const shown = showInvitationCode(code);
    return { id, code: shown, link: invitationLink(this.http, shown) };
  }

  /** @throws AppError `invalid-request` for a cursor of something else */
  async page({ limit, cursor }: InvitationQueryDto): Promise<InvitationPageDto> {
    const { invitations, next } = await this.invitations.page(readCursor(cursor, POSITION), limit);
    const areAccepted = this.auth.signupInvitationsEnabled;
    return { invitations, cursor: writeCursor(next), areAccepted };
  }

  /** @throws AppError `not-found` */
  async revoke(id: string, { name: actor }: AdminCaller, reason: string): Promise<ActAnswerDto> {
    const by = { actor, reason };
    const outcome = UUID.test(id)
      ? await this.invitations.revoke(id, by, new Date(this.clock.now()))
      : 'not-found';
    if (outcome === 'not-found') {
      throw new AppError('not-found');
    }
    if (outcome === 'done') {
      this.audit.log({ kind: 'invitation-revoked', accountId: null, invitationId: id, ...by });
    }
    return { success: true, changed: outcome === 'done' };
  }
}
