import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';
import type { FastifyRequest } from 'fastify';

const MAX_NAME = 64;
const MAX_PLATFORM = 32;
/** Anything that can be shown in a line: no control characters, no lone surrogates. */
const PRINTABLE = /^[^\p{C}]+$/u;

/** What a client says of itself, for its owner to recognise. */
export class ClientDto {
  @ApiProperty({ required: false, maxLength: MAX_NAME, description: 'For a person.' })
  name?: string;

  @ApiProperty({ required: false, maxLength: MAX_PLATFORM }) platform?: string;
}

/** Where a login came from. */
export interface LoginOrigin {
  readonly client: ClientDto | undefined;
  /** As the trusted proxies report it. */
  readonly address: string;
}

export function loginOrigin({ ip }: FastifyRequest, client: ClientDto | undefined): LoginOrigin {
  return { client, address: ip };
}

/** A field that may hold a {@link ClientDto}. */
export const IsClient = (): PropertyDecorator =>
  ValidateBy({
    name: 'isClient',
    validator: {
      validate: (value: unknown) => value === undefined || isClient(value),
      defaultMessage: () =>
        `client must be {name?: up to ${MAX_NAME}, platform?: up to ${MAX_PLATFORM} printable characters}`,
    },
  });

function isClient(value: unknown): value is ClientDto {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return false;
  }
  const { name, platform } = value as Readonly<Record<string, unknown>>;
  return isLine(name, MAX_NAME) && isLine(platform, MAX_PLATFORM);
}

function isLine(value: unknown, maxLength: number): boolean {
  return (
    value === undefined ||
    (typeof value === 'string' && value.length <= maxLength && PRINTABLE.test(value))
  );
}

/** The body of a login that needs nothing else. */
export class LoginClientDto {
  @ApiProperty({ required: false, type: ClientDto })
  @IsClient()
  client?: ClientDto;
}
