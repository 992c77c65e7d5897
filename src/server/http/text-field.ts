import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import {
  IsInt,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
  ArrayMaxSize,
  IsArray,
} from 'class-validator';

interface DocumentedText {
  readonly description?: string;
  readonly required?: boolean;
  readonly nullable?: boolean;
  readonly type?: typeof String;
}

/** A field of a request that may be missing. @param documented its description, or more about it */
export const OptionalField = (documented: string | ApiPropertyOptions = {}): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional(typeof documented === 'string' ? { description: documented } : documented),
    IsOptional(),
  );

/** A text of a request. @param maxLength in characters */
export const Text = (maxLength: number, documented: DocumentedText = {}): PropertyDecorator =>
  applyDecorators(ApiProperty({ ...documented, maxLength }), IsString(), MaxLength(maxLength));

/** {@link Text} that may be missing. */
export const OptionalText = (
  maxLength: number,
  documented: DocumentedText = {},
): PropertyDecorator =>
  applyDecorators(Text(maxLength, { required: false, ...documented }), IsOptional());

/** A list of texts, of at most this many. */
export const TextList = (most: number): PropertyDecorator =>
  applyDecorators(IsArray(), ArrayMaxSize(most), IsString({ each: true }));

/** A text of one line. PostgreSQL text cannot contain the character NUL. */
export const Line = (shortest: number, longest: number): PropertyDecorator =>
  applyDecorators(
    IsString(),
    Length(shortest, longest),
    Matches(/^[^\p{Cc}]*$/u, { message: '$property must not have control characters' }),
  );

export const WholeNumber = (
  minimum: number,
  maximum: number,
  description: string,
): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ minimum, maximum, description }),
    IsInt(),
    Min(minimum),
    Max(maximum),
  );

/** A whole number of a query, which may be missing. */
export const OptionalNumber = (minimum: number, maximum: number): PropertyDecorator =>
  applyDecorators(
    IsOptional(),
    Transform(({ value }) => (/^-?\d+$/.test(String(value)) ? Number(value) : NaN)),
    IsInt(),
    Min(minimum),
    Max(maximum),
  );
