import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsInt, IsOptional, IsString, Length, Matches, Max, MaxLength, Min } from 'class-validator';
import { INVITATION_LIMITS } from '../../policy/flow/code-limits.js';

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
    ...{
      required: false,
      nullable: true,
      type: String,
      minLength: 1,
      maxLength: INVITATION_LIMITS.noteLength,
    },
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

  @ApiProperty({
    nullable: true,
    type: String,
    description:
      'The account page with the code in the fragment; null without SERVICE_PUBLIC_URL or an account page.',
  })
  link!: string | null;
}

export class InvitationQueryDto {
  @ApiProperty({ required: false, default: 50, minimum: 1, maximum: 200 })
  @IsOptional()
  @Transform(({ value }) => Number(value))
  @IsInt()
  @Min(1)
  @Max(200)
  limit = 50;

  @ApiProperty({ required: false, description: '`cursor` of the page before.' })
  @IsOptional()
  @IsString()
  @MaxLength(2048)
  cursor?: string;
}

export class InvitationDto {
  @ApiProperty() id!: string;
  @ApiProperty({ nullable: true, type: String }) note!: string | null;
  @ApiProperty({ description: 'Accounts it can make.' }) uses!: number;

  @ApiProperty({ description: 'Accounts it made; those that were deleted count.' })
  used!: number;

  @ApiProperty({ description: 'The administrator who made it.' }) createdBy!: string;
  @ApiProperty({ description: TIME }) createdAt!: number;
  @ApiProperty({ description: TIME }) expiresAt!: number;
  @ApiProperty({ nullable: true, type: Number, description: TIME }) revokedAt!: number | null;
}

export class InvitationPageDto {
  @ApiProperty({
    type: [InvitationDto],
    description: 'Newest first; those that expired are deleted.',
  })
  invitations!: readonly InvitationDto[];

  @ApiProperty({ nullable: true, type: String, description: 'null = the last page.' })
  cursor!: string | null;

  @ApiProperty({
    description: 'Whether device keys sign up with them (AUTH_SIGNUP_INVITATIONS_ENABLED).',
  })
  areAccepted!: boolean;
}
