import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsInt, IsOptional, IsString, Length, Matches, Max, MaxLength, Min } from 'class-validator';

interface DocumentedText {
  readonly description?: string;
  readonly required?: boolean;
  readonly nullable?: boolean;
  readonly type?: typeof String;
}

/** A text of a request. @param maxLength in characters */
export const Text = (maxLength: number, documented: DocumentedText = {}): PropertyDecorator =>
  applyDecorators(ApiProperty({ ...documented, maxLength }), IsString(), MaxLength(maxLength));

/** {@link Text} that may be missing. */
export const OptionalText = (
  maxLength: number,
  documented: DocumentedText = {},
): PropertyDecorator =>
  applyDecorators(Text(maxLength, { required: false, ...documented }), IsOptional());

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
