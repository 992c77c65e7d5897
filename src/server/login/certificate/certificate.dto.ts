import { ApiProperty } from '@nestjs/swagger';
import { Allow } from 'class-validator';
import { Described } from '../../http/route-docs.js';
import { OptionalText, Text } from '../../http/text-field.js';
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
  @Text(128, { description: 'The `code` of the return address.' })
  code!: string;

  @OptionalText(1024, { description: 'The secret whose hash the login began with.' })
  proof?: string;
}

export class ConnectCertificateDto {
  @OptionalText(128, {
    type: String,
    description: 'The `code` of the return address. Default: the certificate of this connection.',
  })
  code?: string | null;

  @OptionalText(1024, {
    type: String,
    description: 'The secret whose hash the connection began with.',
  })
  proof?: string | null;
}

export class ConnectStartDto {
  @Described('To open in the browser, within 10 minutes: absolute, or relative to this address.')
  url!: string;
}
