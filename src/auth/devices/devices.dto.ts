import { ApiProperty } from '@nestjs/swagger';
import { IsOptional, IsString, Length, Matches, MaxLength } from 'class-validator';
import { LoginClientDto } from '../sessions/login-origin.js';
import { SessionClientDto } from '../sessions/sessions.dto.js';

/** 1 KiB of bytes in base64url. */
const MAX_SEALED_LENGTH = 1368;

export class RequestDeviceDto extends LoginClientDto {
  @ApiProperty({
    description:
      "The new device's raw 32-byte X25519 key, base64, standard or url-safe, padded or not.",
  })
  @MaxLength(64)
  @IsString()
  publicKey!: string;

  @ApiProperty({ description: 'SHA-256 of a secret `proof` that the device keeps, in hex.' })
  @Matches(/^[0-9a-f]{64}$/i, { message: 'proofHash must be a SHA-256 in hex' })
  proofHash!: string;
}

export class DeviceRequestDto {
  @ApiProperty()
  id!: string;

  @ApiProperty({ description: 'For a person to type elsewhere: `XXXX-XXXX`.' })
  userCode!: string;

  @ApiProperty({ description: 'Unix milliseconds.' })
  expiresAt!: number;

  @ApiProperty({ description: 'How long to wait between two questions for the token.' })
  intervalSeconds!: number;
}

export class WaitingDeviceDto {
  @ApiProperty()
  id!: string;

  @ApiProperty({ description: 'Raw 32-byte X25519 key, unpadded base64url.' })
  publicKey!: string;

  @ApiProperty({ description: 'What the device says of itself; it is not verified.' })
  client!: SessionClientDto;

  @ApiProperty({ description: 'Where the device asked from.' })
  address!: string;

  @ApiProperty({ description: 'Unix milliseconds.' })
  createdAt!: number;
}

export class ApproveDeviceDto {
  @ApiProperty({
    required: false,
    maxLength: MAX_SEALED_LENGTH,
    description:
      "The account's secret, sealed to the device's key (RFC 9180), `enc || ct`: up to 1 KiB in unpadded base64url. Of accounts with a device key, and of no other.",
  })
  @IsOptional()
  @MaxLength(MAX_SEALED_LENGTH)
  @IsString()
  sealed?: string;
}

export class ClaimDeviceDto {
  @ApiProperty({ description: 'The secret whose hash the device sent first.' })
  @Length(1, 1024)
  @IsString()
  proof!: string;
}

export class DeviceTokenDto {
  @ApiProperty({ enum: ['pending', 'approved', 'refused'] })
  state!: 'pending' | 'approved' | 'refused';

  @ApiProperty({ required: false, description: 'Bearer token. With `approved`, once.' })
  token?: string;

  @ApiProperty({ required: false, description: 'With `approved`.' })
  accountId?: string;

  @ApiProperty({
    required: false,
    nullable: true,
    type: String,
    description: 'With `approved`: what the approving device sealed; null for keyless accounts.',
  })
  sealed?: string | null;
}
