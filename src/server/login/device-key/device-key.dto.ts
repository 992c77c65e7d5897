import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean } from 'class-validator';
import { OptionalField, OptionalText, Text } from '../../http/text-field.js';
import { LoginClientDto } from '../../auth/sessions/login-origin.js';
import { ApiTime, Described } from '../../http/route-docs.js';

const BASE64 = 'base64, standard or url-safe, padded or not';

export class SignedChallengeDto extends LoginClientDto {
  @Text(64, { description: `Raw 32-byte Ed25519 key, ${BASE64}.` })
  publicKey!: string;

  @Text(1368, { description: `What was signed, 1 to 1024 bytes, ${BASE64}.` })
  challenge!: string;

  @Text(96, { description: `64-byte Ed25519 signature of the challenge's bytes, ${BASE64}.` })
  signature!: string;
}

export class DeviceKeyLoginDto extends SignedChallengeDto {
  @OptionalField(
    'Default true. false: a key without an account is answered `not-found`, and does not sign up.',
  )
  @IsBoolean()
  create?: boolean;

  @OptionalText(64, {
    nullable: true,
    type: String,
    description:
      'An invitation code, in any case, with dashes or without. Read where invitations are on and the key has no account.',
  })
  invitation?: string | null;
}

export class LoginAnswerDto {
  @ApiProperty({ enum: [true] }) success!: true;
  @Described('Bearer token.') token!: string;
  @ApiProperty() accountId!: string;
  @Described('Whether this login made the account.') created!: boolean;
}

export class ChallengeDto {
  @Described('Sign its bytes. base64.') challenge!: string;
  @ApiTime() expiresAt!: number;
}
