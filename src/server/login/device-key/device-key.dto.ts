import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsOptional, IsString, MaxLength } from 'class-validator';
import { LoginClientDto } from '../../auth/sessions/login-origin.js';

const BASE64 = 'base64, standard or url-safe, padded or not';

export class SignedChallengeDto extends LoginClientDto {
  @ApiProperty({ description: `Raw 32-byte Ed25519 key, ${BASE64}.` })
  @MaxLength(64)
  @IsString()
  publicKey!: string;

  @ApiProperty({ description: `What was signed, 1 to 1024 bytes, ${BASE64}.` })
  @MaxLength(1368)
  @IsString()
  challenge!: string;

  @ApiProperty({ description: `64-byte Ed25519 signature of the challenge's bytes, ${BASE64}.` })
  @MaxLength(96)
  @IsString()
  signature!: string;
}

export class DeviceKeyLoginDto extends SignedChallengeDto {
  @ApiProperty({
    required: false,
    description:
      'Default true. false: a key without an account is answered `not-found`, and does not sign up.',
  })
  @IsOptional()
  @IsBoolean()
  create?: boolean;

  @ApiProperty({
    required: false,
    nullable: true,
    type: String,
    maxLength: 64,
    description:
      'An invitation code, in any case, with dashes or without. Read where invitations are on and the key has no account.',
  })
  @IsOptional()
  @IsString()
  @MaxLength(64)
  invitation?: string | null;
}

export class LoginAnswerDto {
  @ApiProperty({ enum: [true] }) success!: true;
  @ApiProperty({ description: 'Bearer token.' }) token!: string;
  @ApiProperty() accountId!: string;
  @ApiProperty({ description: 'Whether this login made the account.' }) created!: boolean;
}

export class ChallengeDto {
  @ApiProperty({ description: 'Sign its bytes. base64.' }) challenge!: string;
  @ApiProperty({ description: 'Unix milliseconds.' }) expiresAt!: number;
}
