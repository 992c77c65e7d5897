import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsIn, IsInt, IsString, Length, Max, Min } from 'class-validator';
import { OptionalField, OptionalText, Text } from '../../http/text-field.js';
import type { AuthMode } from '../../../core/policy/admission/admission.js';
import { LoginClientDto } from '../../auth/sessions/login-origin.js';
import { DeviceKeyLoginDto } from '../device-key/device-key.dto.js';
import { IsProofHash } from '../login-proof.js';
import { Described } from '../../http/route-docs.js';

const MODES: readonly AuthMode[] = ['keyed', 'keyless'];
const PROOF = { description: 'The secret whose hash the login began with.' };

const Pending = (): PropertyDecorator =>
  applyDecorators(Described('The `pending` of the return address.'), IsString(), Length(1, 128));

/** For a client on the browser's own machine that can listen there (RFC 8252, 7.3). */
export class StartDto {
  @OptionalField({
    type: 'integer',
    minimum: 1024,
    maximum: 65_535,
    description:
      'Return to http://127.0.0.1:<port>/oauth/<provider>, not to the configured return address, after a page has asked. AUTH_LOOPBACK_RETURN_ENABLED turns it off.',
  })
  @Type(() => Number)
  @Max(65_535)
  @Min(1024)
  @IsInt()
  loopbackPort?: number;
}

export class StartLoginDto extends StartDto {
  @OptionalField({ enum: MODES, default: 'keyed' })
  @IsIn(MODES)
  mode?: AuthMode;

  @OptionalField('SHA-256 of a secret `proof` that the client keeps, in hex.')
  @IsProofHash()
  proofHash?: string;

  @OptionalText(64, {
    description: 'In place of `proofHash`: the device key that will finish the login.',
  })
  publicKey?: string;
}

export class StartAnswerDto {
  @Described('To open in the browser.') url!: string;
}

export class ConnectFinalizeDto {
  @Pending() pending!: string;
}

export class FinalizeDto extends DeviceKeyLoginDto {
  @Pending() pending!: string;

  @OptionalText(1024, PROOF)
  proof?: string;
}

export class FinalizeKeylessDto extends LoginClientDto {
  @Pending() pending!: string;

  @Text(1024, PROOF)
  proof!: string;
}

export class PendingProofDto {
  @Pending() pending!: string;

  @Text(1024, PROOF)
  proof!: string;
}

export class PendingIdentityDto {
  @ApiProperty({
    type: String,
    nullable: true,
    description: "The person's login name at the provider; null if the provider names none.",
  })
  login!: string | null;
}

/** A JWK Set (RFC 7517, 5). */
export class KeySetDto {
  @ApiProperty({ type: 'array', items: { type: 'object', additionalProperties: true } })
  keys!: readonly object[];
}
