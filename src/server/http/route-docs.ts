import { applyDecorators, HttpCode, Redirect, type Type } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { ERRORS, type ErrorCode } from '../../common/errors.js';

export const Described = (description: string): PropertyDecorator => ApiProperty({ description });

export const ApiTime = (): PropertyDecorator => Described('Unix milliseconds.');

/** A text that may be missing from what is stored. */
export const ApiTextOrNull = (description?: string): PropertyDecorator =>
  ApiProperty({ nullable: true, type: String, ...(description !== undefined && { description }) });

export const ApiTimeOrNull = (description = 'Unix milliseconds.'): PropertyDecorator =>
  ApiProperty({ nullable: true, type: Number, description });

/** A field that may be absent. */
export const ApiOptional = (description?: string): PropertyDecorator =>
  ApiProperty({ required: false, ...(description !== undefined && { description }) });

export const ApiList = (type: Type | StringConstructor, description?: string): PropertyDecorator =>
  ApiProperty({ type: [type], ...(description !== undefined && { description }) });

class ErrorDetailDto {
  @ApiProperty({ description: 'The field the message is about.' }) path!: string;
  @ApiProperty() message!: string;
}

export class ErrorDto {
  @ApiProperty() statusCode!: number;

  @ApiProperty({ enum: Object.keys(ERRORS), enumName: 'ErrorCode', description: 'For programs.' })
  code!: ErrorCode;

  @ApiProperty({ description: 'Repeats `code` for older clients.' }) error!: string;
  @ApiProperty({ description: 'For a person.' }) message!: string;

  @ApiOptional('The provider the refusal is about.') provider?: string;

  @ApiOptional('The account of a login that is refused.') accountId?: string;

  @ApiProperty({ required: false, type: [ErrorDetailDto] }) details?: ErrorDetailDto[];
  @ApiOptional() requestId?: string;
}

export class SuccessDto {
  @ApiProperty({ enum: [true] }) success!: true;
}

export const Summary = (summary: string, description?: string): MethodDecorator =>
  ApiOperation({ summary, ...(description !== undefined && { description }) });

export const Answers = (type: Type): MethodDecorator =>
  applyDecorators(HttpCode(200), ApiResponse({ status: 200, type }));

/** The route returns the `url` to which it redirects. */
export const Redirects = (description: string): MethodDecorator =>
  applyDecorators(Redirect(), ApiResponse({ status: 302, description }));

const REFUSALS = 'gatehouse:refusals';

/** Declares the refusals by this route alone; api-document.ts adds those of its access and body. */
export function Refuses(...codes: readonly ErrorCode[]): MethodDecorator {
  return (_target, _key, descriptor: PropertyDescriptor) => {
    const handler = descriptor.value as object;
    // Nest's own decorators for metadata would replace what another use of this one declared.
    Reflect.defineMetadata(REFUSALS, [...codes, ...refusalsOf(handler)], handler);
  };
}

export function refusalsOf(handler: object): readonly ErrorCode[] {
  return (Reflect.getMetadata(REFUSALS, handler) ?? []) as readonly ErrorCode[];
}

export function refusalResponses(codes: ReadonlySet<ErrorCode>): Record<string, object> {
  const byStatus = new Map<number, string[]>();
  for (const [code, { status }] of Object.entries(ERRORS)) {
    if (codes.has(code as ErrorCode)) {
      byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
    }
  }
  const responses = [...byStatus].map(([status, those]) => [
    status,
    {
      description: those.map((code) => `\`${code}\``).join(', '),
      content: {
        'application/json': {
          schema: { $ref: getSchemaPath(ErrorDto) },
          examples: Object.fromEntries(
            those.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
          ),
        },
      },
    },
  ]);
  return Object.fromEntries(responses) as Record<string, object>;
}
