import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsOptional, IsString, Length, Matches, MaxLength } from 'class-validator';
import type { AuthMode } from '../../policy/auth-methods.js';
import { SignedChallengeDto } from '../device-key/device-key.dto.js';
import { PROOF_HASH } from '../login-proof.js';

const MODES: readonly AuthMode[] = ['keyed', 'keyless'];
const LOOPBACK_PORT =
  /^(?:102[4-9]|10[3-9]\d|1[1-9]\d\d|[2-9]\d{3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d{2}|655[0-2]\d|6553[0-5])$/;
const PENDING = 'What the return address brought.';

/** For a client on the browser's own machine that can listen there (RFC 8252, 7.3). */
export class StartDto {
  @ApiProperty({
    required: false,
    type: String,
    pattern: LOOPBACK_PORT.source,
    description:
      'Return to http://127.0.0.1:<port>/oauth/<provider>, not to the configured return address, after a page has asked. AUTH_LOOPBACK_RETURN_ENABLED turns it off.',
  })
  @IsOptional()
  @Matches(LOOPBACK_PORT, { message: 'loopbackPort must be a port from 1024 to 65535' })
  loopbackPort?: string;
}

export function toPort(loopbackPort: string | undefined): number | null {
  return loopbackPort === undefined ? null : Number(loopbackPort);
}

export class StartLoginDto extends StartDto {
  @ApiProperty({ enum: MODES, required: false, default: 'keyed' })
  @IsOptional()
  @IsIn(MODES)
  mode?: AuthMode;

  @ApiProperty({
    required: false,
    description: 'SHA-256 of a secret `proof` that the client keeps, in hex.',
  })
  @IsOptional()
  @Matches(PROOF_HASH, { message: 'proofHash must be a SHA-256 in hex' })
  proofHash?: string;

  @ApiProperty({
    required: false,
    description: 'In place of `proofHash`: the device key that will finish the login.',
  })
  @IsOptional()
  @MaxLength(64)
  @IsString()
  publicKey?: string;
}

export class StartAnswerDto {
  @ApiProperty({ description: 'To open in the browser.' })
  url!: string;
}

export class ConnectFinalizeDto {
  @ApiProperty({ description: PENDING })
  @Length(1, 128)
  @IsString()
  pending!: string;
}

export class FinalizeDto extends SignedChallengeDto {
  @ApiProperty({ description: PENDING })
  @Length(1, 128)
  @IsString()
  pending!: string;

  @ApiProperty({ required: false, description: 'The secret whose hash the login began with.' })
  @IsOptional()
  @MaxLength(1024)
  @IsString()
  proof?: string;
}
