import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { IsInt, Max, Min, ValidateBy } from 'class-validator';
import { isContent } from '../policy/content.js';

type Schema = Extract<ApiPropertyOptions, { readonly additionalProperties: unknown }>;

const ENCRYPTED: NonNullable<Schema['oneOf']>[number] = {
  type: 'object',
  required: ['t', 'c'],
  properties: { t: { type: 'string', enum: ['encrypted'] }, c: { type: 'string' } },
};

const PLAIN: NonNullable<Schema['oneOf']>[number] = {
  type: 'object',
  required: ['t', 'v'],
  properties: { t: { type: 'string', enum: ['plain'] }, v: { description: 'Any JSON value.' } },
};

const ENVELOPE: Schema = {
  type: 'object',
  additionalProperties: true,
  oneOf: [ENCRYPTED, PLAIN],
};

const WORDS = 'must be {"t": "encrypted", "c": text} or {"t": "plain", "v": any JSON value}';

/** Content in its envelope. */
export const ApiContent = (): PropertyDecorator => ApiProperty(ENVELOPE);

/** Content in its envelope, or null for none. */
export const ApiContentOrNull = (): PropertyDecorator =>
  ApiProperty({ ...ENVELOPE, nullable: true });

/** A field that holds content; with `orNull` it may hold null, and never nothing at all. */
export const IsContent = ({ orNull = false } = {}): PropertyDecorator =>
  ValidateBy({
    name: 'isContent',
    validator: {
      validate: (value: unknown) => (orNull && value === null) || isContent(value),
      defaultMessage: () => `$property ${WORDS}${orNull ? ', or null' : ''}`,
    },
  });

const MAX_VERSION = 2_147_483_646;

/** The version that the writer has read; 0 before the first write. */
export const IsVersion = (): PropertyDecorator =>
  applyDecorators(ApiProperty({ minimum: 0 }), IsInt(), Min(0), Max(MAX_VERSION));
