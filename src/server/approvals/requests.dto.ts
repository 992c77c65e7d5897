import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import {
  Equals,
  IsInt,
  IsString,
  IsUUID,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateBy,
} from 'class-validator';
import { Transform } from 'class-transformer';
import { OptionalField } from '../http/text-field.js';
import {
  ApiList,
  ApiOptional,
  ApiTextOrNull,
  ApiTime,
  ApiTimeOrNull,
  Described,
} from '../http/route-docs.js';
import { OpaqueJson } from '../http/request-validation.pipe.js';
import { isStorableText } from '../../core/protocol/content.js';
import type { RequestState } from '../storage/repositories/approvals/agent-request.repository.js';

/** A body with a request of 64 KiB, sealed, or with an answer. */
export const REQUEST_BODY_BYTES = 128 * 1024;
/** Longest wait of one call. */
export const MAX_WAIT_SECONDS = 50;

const MAX_SEALED_LENGTH = 90_000;
const MAX_CONTENT_BYTES = 64 * 1024;
const STATES: readonly RequestState[] = ['open', 'answered', 'withdrawn', 'expired'];

const SEALED = 'Sealed by the client; opaque to the server.';

/** Sealed text: a version and base64url, without white space. */
const IsSealed = (): PropertyDecorator =>
  applyDecorators(
    IsString(),
    MaxLength(MAX_SEALED_LENGTH),
    Matches(/^[\x21-\x7e]+$/, { message: '$property must be text without white space' }),
  );

const IsPlainContent = (): PropertyDecorator =>
  applyDecorators(
    OpaqueJson(),
    ValidateBy({
      name: 'isPlainContent',
      validator: {
        validate: isPlainContent,
        defaultMessage: () =>
          `$property must be a JSON value of at most ${MAX_CONTENT_BYTES} bytes`,
      },
    }),
  );

export class NewRequestDto {
  @ApiProperty({
    description: '128 random bits in base64url (22 characters), drawn for this request.',
  })
  @Matches(/^[\w-]{21}[AQgw]$/, { message: 'id must be 128 bits in base64url' })
  id!: string;

  @OptionalField({ maxLength: MAX_SEALED_LENGTH, description: SEALED })
  @IsSealed()
  sealed?: string;

  @OptionalField('In place of `sealed`, for an account without keys: JSON of up to 64 KiB.')
  @IsPlainContent()
  content?: unknown;

  @OptionalField('Unix milliseconds. Ten minutes from now by default, and at most a day.')
  @Min(0)
  @IsInt()
  expiresAt?: number;
}

export class RequestDto {
  @ApiProperty() id!: string;
  @ApiProperty({ enum: STATES }) state!: RequestState;
  @ApiTime() createdAt!: number;
  @ApiTime() expiresAt!: number;
  @ApiTimeOrNull('Unix milliseconds. null = open.') closedAt!: number | null;
  @Described('The session that asked.') sessionId!: string;
}

class AnswerDto {
  @Described('The session that answered.') sessionId!: string;
  @ApiTextOrNull() sessionName!: string | null;
  @ApiTime() answeredAt!: number;
  @ApiOptional(SEALED) sealed?: string;

  @ApiProperty({ required: false, enum: [true], description: 'A denial without a key.' })
  deny?: true;
}

export class AnsweredRequestDto extends RequestDto {
  @ApiList(AnswerDto, 'Those that the asking session has not rejected, the first one first.')
  answers!: readonly AnswerDto[];

  @ApiOptional(`${SEALED} Absent once the request is closed.`) sealed?: string;

  @ApiOptional('In place of `sealed`: any JSON value.') content?: unknown;
}

class RequestSummaryDto {
  @ApiProperty() id!: string;
  @ApiTime() createdAt!: number;
  @ApiTime() expiresAt!: number;
  @Described('The session that asked.') sessionId!: string;
  @Described('Number of its answers.') answers!: number;
}

export class RequestListDto {
  @ApiList(RequestSummaryDto, 'Oldest first.') requests!: readonly RequestSummaryDto[];
}

export class WaitDto {
  @OptionalField({
    minimum: 0,
    maximum: MAX_WAIT_SECONDS,
    description:
      'Waits for an answer, for the end of the request, or for this long. The content is left out then.',
  })
  @Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' && /^\d{1,3}$/.test(value) ? Number(value) : value,
  )
  @Max(MAX_WAIT_SECONDS)
  @Min(0)
  @IsInt()
  waitSeconds?: number;
}

export class CloseDto {
  @OptionalField({
    format: 'uuid',
    description: 'The session whose answer was taken. Without it, the request is withdrawn.',
  })
  @IsUUID()
  answeredBy?: string;
}

export class NewAnswerDto {
  @OptionalField({ maxLength: MAX_SEALED_LENGTH, description: SEALED })
  @IsSealed()
  sealed?: string;

  @OptionalField({
    enum: [true],
    description: 'In place of `sealed`: a denial without a key.',
  })
  @Equals(true)
  deny?: true;
}

function isPlainContent(value: unknown): boolean {
  const text = JSON.stringify(value);
  return text !== undefined && Buffer.byteLength(text) <= MAX_CONTENT_BYTES && isStorableText(text);
}
