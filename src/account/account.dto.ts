import { ApiProperty } from '@nestjs/swagger';
import type { EligibilityStatus } from '../policy/eligibility-status.js';
import type { AccountMode, KeyMode } from '../policy/storage-policy.js';

class EligibilityDto {
  @ApiProperty({ enum: ['unknown', 'eligible', 'ineligible'] })
  status!: EligibilityStatus;

  @ApiProperty({ nullable: true, type: String })
  reason!: string | null;

  @ApiProperty({ nullable: true, type: Number, description: 'Unix milliseconds.' })
  checkedAt!: number | null;

  @ApiProperty({ nullable: true, type: Number, description: 'Unix milliseconds.' })
  nextCheckAt!: number | null;
}

class IdentityDto {
  @ApiProperty()
  provider!: string;

  @ApiProperty({ nullable: true, type: String })
  login!: string | null;

  @ApiProperty()
  eligibility!: EligibilityDto;

  @ApiProperty({ description: 'Unix milliseconds.' })
  connectedAt!: number;
}

export class AccountProfileDto {
  @ApiProperty()
  id!: string;

  @ApiProperty({ description: 'Unix milliseconds.' })
  createdAt!: number;

  @ApiProperty({ enum: ['keyed', 'keyless'] })
  keyMode!: KeyMode;

  @ApiProperty({ enum: ['e2ee', 'plain'] })
  encryptionMode!: AccountMode;

  @ApiProperty({ type: [IdentityDto] })
  identities!: readonly IdentityDto[];
}
