import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { IsOptional, IsString, MaxLength } from 'class-validator';

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
