import { ApiProperty } from '@nestjs/swagger';
import { Equals, IsString, ValidateIf } from 'class-validator';
import { ApiList, ApiOptional, Described } from '../http/route-docs.js';
import { OptionalField, OptionalText, Text } from '../http/text-field.js';

export const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

export const CLIENT_CREDENTIALS = 'client_credentials';
/** Grants of programs, where a backend accepts any. */
export const AUTHORIZATION_CODE = 'authorization_code';
export const REFRESH_TOKEN = 'refresh_token';

/** Client authentication by an assertion (RFC 7521, 4.2). */
export class ClientAuthenticationForm {
  @OptionalText(512, { description: 'The id of the backend, if it is given at all.' })
  client_id?: string;

  @OptionalField({ enum: [ASSERTION] })
  @Equals(ASSERTION)
  client_assertion_type?: string;

  @OptionalText(16_384, { description: 'A JWT that the backend signed (RFC 7523).' })
  client_assertion?: string;
}

const OfExchange = (): PropertyDecorator =>
  ValidateIf(({ grant_type: grant }: TokenForm) => grant === EXCHANGE);

/**
 * A token exchange (RFC 8693, 2.1), or the request of a backend for a token of its own (RFC 6749,
 * 4.4.2). A repeated parameter is an array, and refused.
 */
export class TokenForm extends ClientAuthenticationForm {
  /** An unknown one has an error of its own (RFC 6749, 5.2). */
  @ApiProperty({ enum: [EXCHANGE, CLIENT_CREDENTIALS, AUTHORIZATION_CODE, REFRESH_TOKEN] })
  @IsString()
  grant_type!: string;

  @Text(1024, { required: false, description: 'The token of a session, for an exchange.' })
  @OfExchange()
  subject_token!: string;

  @ApiProperty({ required: false, enum: [ACCESS_TOKEN], description: 'For an exchange.' })
  @OfExchange()
  @Equals(ACCESS_TOKEN)
  subject_token_type!: string;

  @Text(2048, {
    required: false,
    description:
      'The address of the backend: for an exchange exactly as it is configured; a program may repeat it.',
  })
  @ValidateIf((form: TokenForm) => form.grant_type === EXCHANGE || form.resource !== undefined)
  resource!: string;

  @OptionalField({ enum: [ACCESS_TOKEN] })
  @Equals(ACCESS_TOKEN)
  requested_token_type?: string;

  @OptionalField({ type: String, description: 'Not supported: refused.' })
  @Equals(undefined, { message: 'Delegation is not supported.' })
  actor_token?: unknown;

  /** Without a refusal the token would not be for the backend that the client named. */
  @OptionalField({ type: String, description: 'Not supported: refused.' })
  @Equals(undefined, { message: 'Name the backend by resource.' })
  audience?: unknown;

  @OptionalText(2048, {
    description:
      'For a client: `ssf.manage`, `ssf.read`, `introspect`. Default: all of them. A program may narrow a refreshed token. Refused in an exchange.',
  })
  scope?: string;

  @OptionalText(128, { description: 'The code of a program (RFC 6749, 4.1.3).' })
  code?: string;

  @OptionalText(2048, { description: 'The address to which the code was sent.' })
  redirect_uri?: string;

  @OptionalText(128, { description: "The verifier of the code's challenge (RFC 7636)." })
  code_verifier?: string;

  @OptionalText(256, { description: 'The refresh token of a program (RFC 6749, 6).' })
  refresh_token?: string;
}

/** RFC 8693, 2.2.1; of a client RFC 6749, 5.1. */
export class TokenDto {
  @ApiProperty() access_token!: string;
  @ApiProperty({ required: false, enum: [ACCESS_TOKEN], description: 'Of an exchange.' })
  issued_token_type?: string;

  @ApiProperty({ enum: ['Bearer'] }) token_type!: string;
  @Described('Seconds.') expires_in!: number;
  @ApiOptional('Of a client or a program.') scope?: string;
  @ApiOptional('Of a program.') refresh_token?: string;
}

export class IntrospectionForm extends ClientAuthenticationForm {
  @Text(8192, { description: 'The token that a caller presented.' })
  token!: string;
}

/** RFC 7662, 2.2. All but `active` are absent where it is false. */
export class IntrospectionDto {
  @ApiProperty() active!: boolean;
  @ApiOptional() iss?: string;
  @ApiProperty({ required: false, type: String }) aud?: string | string[];
  @ApiOptional('The account.') sub?: string;
  @ApiOptional('The session at this backend.') sid?: string;
  @ApiOptional(
    '`gatehouse`: the session is of the person. Any other: a program, limited to `scope`.',
  )
  client_id?: string;

  @ApiOptional('Of a program, with spaces between the scopes.') scope?: string;

  @ApiOptional('Name of the program.') client_name?: string;
  @ApiOptional('Id of the grant of the program.') grant_id?: string;

  @ApiProperty({ required: false, enum: ['Bearer'] }) token_type?: string;
  @ApiOptional('Unix seconds.') iat?: number;
  @ApiOptional('Unix seconds.') exp?: number;
  @ApiOptional() jti?: string;
  @ApiOptional('Time of the login, Unix seconds.') auth_time?: number;

  @ApiOptional('End of the session, Unix seconds.') session_exp?: number;

  @ApiOptional('`device-key`, `mtls` or a provider id.') login_method?: string;

  @ApiOptional() login?: string;
  @ApiOptional() email?: string;
}

/** RFC 7517, 5. */
export class JwkSetDto {
  @ApiList(Object) keys!: readonly object[];
}

/** RFC 8414, 2. */
export class ServerMetadataDto {
  @ApiProperty() issuer!: string;
  @ApiProperty() token_endpoint!: string;
  @ApiProperty() jwks_uri!: string;
  @ApiProperty() introspection_endpoint!: string;
  @ApiList(String) scopes_supported!: string[];
  @ApiList(String) response_types_supported!: string[];
  @ApiList(String) grant_types_supported!: string[];
  @ApiList(String) token_endpoint_auth_methods_supported!: string[];
  @ApiList(String) token_endpoint_auth_signing_alg_values_supported!: string[];
  @ApiList(String) introspection_endpoint_auth_methods_supported!: string[];
  @ApiList(String) introspection_endpoint_auth_signing_alg_values_supported!: string[];

  @ApiOptional('Where a backend accepts programs.') authorization_endpoint?: string;

  @ApiProperty({ required: false, type: [String] }) response_modes_supported?: string[];
  @ApiOptional() revocation_endpoint?: string;
  @ApiProperty({ required: false, type: [String] })
  revocation_endpoint_auth_methods_supported?: string[];

  @ApiProperty({ required: false, type: [String] }) code_challenge_methods_supported?: string[];
  @ApiOptional() client_id_metadata_document_supported?: boolean;
  @ApiOptional() authorization_response_iss_parameter_supported?: boolean;
}
