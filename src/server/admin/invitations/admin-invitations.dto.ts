import { ApiProperty } from '@nestjs/swagger';
import {
  ApiList,
  ApiTextOrNull,
  ApiTime,
  ApiTimeOrNull,
  Described,
} from '../../http/route-docs.js';
import { INVITATION_LIMITS } from '../../../core/policy/flow/code-limits.js';
import { PageDto } from '../page.dto.js';
import { OptionalField, Line, WholeNumber } from '../../http/text-field.js';

const ARE_ACCEPTED =
  'Whether device keys sign up with invitations (AUTH_SIGNUP_INVITATIONS_ENABLED).';

export class NewInvitationDto {
  @WholeNumber(1, INVITATION_LIMITS.uses, 'Accounts it can make.') uses!: number;

  @WholeNumber(INVITATION_LIMITS.minSeconds, INVITATION_LIMITS.maxSeconds, 'From now.')
  expiresInSeconds!: number;

  @OptionalField({
    nullable: true,
    type: String,
    minLength: 1,
    maxLength: INVITATION_LIMITS.noteLength,
    description: 'For administrators; kept in the audit trail too.',
  })
  @Line(1, INVITATION_LIMITS.noteLength)
  note?: string | null;
}

export class CreatedInvitationDto {
  @ApiProperty() id!: string;
  @Described('Shown once: only its hash is stored.') code!: string;

  @ApiTextOrNull(
    'The account page with the code in the fragment; null without SERVICE_PUBLIC_URL or an account page.',
  )
  link!: string | null;

  @Described(ARE_ACCEPTED) areAccepted!: boolean;
}

export class InvitationDto {
  @ApiProperty() id!: string;
  @ApiTextOrNull() note!: string | null;
  @Described('Accounts it can make.') uses!: number;
  @Described('Accounts it made; those that were deleted count.') used!: number;
  @Described('The administrator who made it.') createdBy!: string;
  @ApiTime() createdAt!: number;
  @ApiTime() expiresAt!: number;
  @ApiTimeOrNull() revokedAt!: number | null;
}

export class InvitationPageDto extends PageDto {
  @ApiList(InvitationDto, 'Newest first; those that expired are deleted.')
  invitations!: readonly InvitationDto[];

  @Described(ARE_ACCEPTED) areAccepted!: boolean;
}
