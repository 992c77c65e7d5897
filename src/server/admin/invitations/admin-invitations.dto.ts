import { ApiProperty } from '@nestjs/swagger';
import { IsInt, IsOptional, IsString, Length, Matches, Max, Min } from 'class-validator';
import { ApiList, ApiTextOrNull, ApiTimeOrNull } from '../../http/route-docs.js';
import { INVITATION_LIMITS } from '../../../core/policy/flow/code-limits.js';
import { PageDto } from '../page.dto.js';

const TIME = 'Unix milliseconds.';

export class NewInvitationDto {
  @ApiProperty({
    minimum: 1,
    maximum: INVITATION_LIMITS.uses,
    description: 'Accounts it can make.',
  })
  @IsInt()
  @Min(1)
  @Max(INVITATION_LIMITS.uses)
  uses!: number;

  @ApiProperty({
    minimum: INVITATION_LIMITS.minSeconds,
    maximum: INVITATION_LIMITS.maxSeconds,
    description: 'From now.',
  })
  @IsInt()
  @Min(INVITATION_LIMITS.minSeconds)
  @Max(INVITATION_LIMITS.maxSeconds)
  expiresInSeconds!: number;

  @ApiProperty({
    required: false,
    nullable: true,
    type: String,
    minLength: 1,
    maxLength: INVITATION_LIMITS.noteLength,
    description: 'For administrators; kept in the audit trail too.',
  })
  @IsOptional()
  @IsString()
  @Length(1, INVITATION_LIMITS.noteLength)
  @Matches(/^[^\p{Cc}]*$/u, { message: 'note must not have control characters' })
  note?: string | null;
}

export class CreatedInvitationDto {
  @ApiProperty() id!: string;
  @ApiProperty({ description: 'Shown once: only its hash is stored.' }) code!: string;

  @ApiTextOrNull(
    'The account page with the code in the fragment; null without SERVICE_PUBLIC_URL or an account page.',
  )
  link!: string | null;
}

export class InvitationDto {
  @ApiProperty() id!: string;
  @ApiTextOrNull() note!: string | null;
  @ApiProperty({ description: 'Accounts it can make.' }) uses!: number;

  @ApiProperty({ description: 'Accounts it made; those that were deleted count.' })
  used!: number;

  @ApiProperty({ description: 'The administrator who made it.' }) createdBy!: string;
  @ApiProperty({ description: TIME }) createdAt!: number;
  @ApiProperty({ description: TIME }) expiresAt!: number;
  @ApiTimeOrNull() revokedAt!: number | null;
}

export class InvitationPageDto extends PageDto {
  @ApiList(InvitationDto, 'Newest first; those that expired are deleted.')
  invitations!: readonly InvitationDto[];

  @ApiProperty({
    description: 'Whether device keys sign up with them (AUTH_SIGNUP_INVITATIONS_ENABLED).',
  })
  areAccepted!: boolean;
}
