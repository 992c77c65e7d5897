import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';
import type { FastifyRequest } from 'fastify';

export const MAX_NAME = 64;
const MAX_PLATFORM = 32;
const MIN_SESSION_SECONDS = 60;
/** Text of a single line, which shows something: no control characters, no lone surrogates, and not blanks alone. */
const PRINTABLE = /^(?=.*\P{Z})[^\p{C}\p{Zl}\p{Zp}]+$/u;

/** The client's description of itself, for its owner to recognise. */
export class ClientDto {
  @ApiProperty({ required: false, maxLength: MAX_NAME, description: 'For a person.' })
  name?: string;

  @ApiProperty({ required: false, maxLength: MAX_PLATFORM }) platform?: string;

  @ApiProperty({
    required: false,
    type: 'integer',
    minimum: MIN_SESSION_SECONDS,
    description: 'Ends the session after this time, if the server would not end it earlier.',
  })
  sessionSeconds?: number;
}

export interface LoginOrigin {
  readonly client: ClientDto | undefined;
  /** The address that trusted proxies report. */
  readonly address: string;
}

export function loginOrigin({ ip }: FastifyRequest, client: ClientDto | undefined): LoginOrigin {
  return { client, address: ip };
}

/** A field that may hold a {@link ClientDto}. */
const IsClient = (): PropertyDecorator =>
  ValidateBy({
    name: 'isClient',
    validator: {
      validate: (value: unknown) => value === undefined || isClient(value),
      defaultMessage: () =>
        `client must be {name?: up to ${MAX_NAME}, platform?: up to ${MAX_PLATFORM} printable characters, sessionSeconds?: integer from ${MIN_SESSION_SECONDS}}`,
    },
  });

/** The name alone, as its owner chooses it. */
export const IsClientName = (): PropertyDecorator =>
  ValidateBy({
    name: 'isClientName',
    validator: {
      validate: (value: unknown) => value !== undefined && isLine(value, MAX_NAME),
      defaultMessage: () => `name must be 1 to ${MAX_NAME} printable characters`,
    },
  });

function isClient(value: unknown): value is ClientDto {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return false;
  }
  const { name, platform, sessionSeconds } = value as Readonly<Record<string, unknown>>;
  return (
    isLine(name, MAX_NAME) && isLine(platform, MAX_PLATFORM) && isSessionSeconds(sessionSeconds)
  );
}

function isSessionSeconds(value: unknown): boolean {
  return (
    value === undefined || (Number.isSafeInteger(value) && Number(value) >= MIN_SESSION_SECONDS)
  );
}

/** @param most characters, as the API documents count them: an emoji is one, and two in UTF-16 */
function isLine(value: unknown, most: number): boolean {
  return (
    value === undefined ||
    (typeof value === 'string' && [...value].length <= most && PRINTABLE.test(value))
  );
}

export class LoginClientDto {
  @ApiProperty({ required: false, type: ClientDto })
  @IsClient()
  client?: ClientDto;
}
