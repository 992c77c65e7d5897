import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsInt, IsObject, IsString, Min } from 'class-validator';
import { OptionalField, TextList, OptionalText } from '../http/text-field.js';
import { ApiList, ApiOptional, Described } from '../http/route-docs.js';

export const POLL_DELIVERY = 'urn:ietf:rfc:8936';
const MAX_TEXT = 256;
const MAX_ACKNOWLEDGED = 500;

class AuthorizationSchemeDto {
  @ApiProperty() spec_urn!: string;
}

/** OpenID Shared Signals Framework 1.0, 7.1. */
export class TransmitterDto {
  @ApiProperty() spec_version!: string;
  @ApiProperty() issuer!: string;
  @ApiProperty() jwks_uri!: string;
  @ApiList(String) delivery_methods_supported!: string[];
  @ApiProperty() configuration_endpoint!: string;
  @ApiProperty() status_endpoint!: string;
  @ApiProperty() verification_endpoint!: string;
  @ApiList(String) critical_subject_members!: string[];
  @ApiList(AuthorizationSchemeDto) authorization_schemes!: AuthorizationSchemeDto[];
  @ApiProperty({ enum: ['ALL'] }) default_subjects!: string;
}

class DeliveryDto {
  @ApiProperty({ enum: [POLL_DELIVERY] }) method!: string;
  @ApiOptional('Where to poll (RFC 8936).') endpoint_url?: string;
}

export class NewStreamDto {
  @OptionalField({ type: DeliveryDto, description: 'Only polling is offered.' })
  @IsObject()
  delivery?: DeliveryDto;

  @OptionalField({ type: [String] })
  @TextList(100)
  events_requested?: string[];

  @OptionalText(MAX_TEXT, { description: 'For a person.' })
  description?: string;
}

/** OpenID Shared Signals Framework 1.0, 8.1.1. */
export class StreamDto {
  @ApiProperty() stream_id!: string;
  @ApiProperty() iss!: string;
  @Described('The `resource` of the backend.') aud!: string;
  @ApiProperty({ type: DeliveryDto }) delivery!: DeliveryDto;
  @ApiList(String) events_supported!: string[];
  @ApiList(String) events_requested!: string[];
  @ApiList(String) events_delivered!: string[];
  @Described('Seconds.') min_verification_interval!: number;
  @Described('Seconds without a poll after which the stream is removed.')
  inactivity_timeout!: number;

  @ApiOptional() description?: string;
}

export class StreamStatusDto {
  @ApiProperty() stream_id!: string;
  @ApiProperty({ enum: ['enabled'] }) status!: string;
}

export class NewStatusDto {
  @ApiProperty() @IsString() stream_id!: string;
  @ApiProperty({ enum: ['enabled'], description: 'A stream cannot be paused: delete it instead.' })
  @IsIn(['enabled'])
  status!: string;
}

export class VerificationDto {
  @ApiProperty() @IsString() stream_id!: string;
  @OptionalText(MAX_TEXT, { description: 'The event repeats it.' })
  state?: string;
}

/** RFC 8936, 2.2. A null is an absent member, as in many libraries of receivers. */
export class PollDto {
  @OptionalField({ type: 'integer', minimum: 0 })
  @IsInt()
  @Min(0)
  maxEvents?: number;

  @OptionalField('False waits for up to 10 s for an event.')
  @IsBoolean()
  returnImmediately?: boolean;

  @OptionalField({ type: [String], maxItems: MAX_ACKNOWLEDGED })
  @TextList(MAX_ACKNOWLEDGED)
  ack?: string[];

  @OptionalField({
    type: Object,
    description: 'By `jti`: `err` and `description` of events that the backend could not use.',
  })
  @IsObject()
  setErrs?: Readonly<Record<string, unknown>>;
}

/** RFC 8936, 2.3. */
export class EventsDto {
  @ApiProperty({
    type: Object,
    description: 'Security event tokens by `jti` (RFC 8417), each until it is acknowledged.',
  })
  sets!: Readonly<Record<string, string>>;

  @ApiProperty() moreAvailable!: boolean;
}
