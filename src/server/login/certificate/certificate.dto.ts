import { ApiProperty } from '@nestjs/swagger';
import { Allow, IsOptional, IsString, MaxLength } from 'class-validator';
import { LoginClientDto } from '../../auth/sessions/login-origin.js';

/** The query of a step in a browser; the service checks both, each with its own error. */
export class BrowserStepDto {
  @ApiProperty({
    type: String,
    description: 'The return address; the operator lists the allowed ones.',
  })
  @Allow()
  returnTo: unknown;

  @ApiProperty({
    type: String,
    required: false,
    description:
      'SHA-256 of a secret `proof` in hex; the code is then accepted with `proof` alone.',
  })
  @Allow()
  proofHash: unknown;
}

export class ClaimDto extends LoginClientDto {
  @ApiProperty({ description: 'The `code` of the return address.' })
  @IsString()
  @MaxLength(128)
  code!: string;

  @ApiProperty({ required: false, description: 'The secret whose hash the login began with.' })
  @IsOptional()
  @MaxLength(1024)
  @IsString()
  proof?: string;
}

export class ConnectCertificateDto {
  @ApiProperty({
    type: String,
    required: false,
    description: 'The `code` of the return address. Default: the certificate of this connection.',
  })
  @IsOptional()
  @IsString()
  @MaxLength(128)
  code?: string | null;

  @ApiProperty({
    type: String,
    required: false,
    description: 'The secret whose hash the connection began with.',
  })
  @IsOptional()
  @MaxLength(1024)
  @IsString()
  proof?: string | null;
}

export class ConnectStartDto {
  @ApiProperty({
    description:
      'To open in the browser, within 10 minutes: absolute, or relative to this address.',
  })
  url!: string;
}
