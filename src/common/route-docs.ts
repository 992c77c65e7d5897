import { applyDecorators, HttpCode, type Type } from '@nestjs/common';
import { ApiProperty, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { ERRORS, type ErrorCode } from './errors.js';

class ErrorDetailDto {
  @ApiProperty({ description: 'The field the message is about.' }) path!: string;
  @ApiProperty() message!: string;
}

/** The shape of every refusal. */
export class ErrorDto {
  @ApiProperty() statusCode!: number;

  @ApiProperty({ enum: Object.keys(ERRORS), enumName: 'ErrorCode', description: 'For programs.' })
  code!: ErrorCode;

  @ApiProperty({ description: 'Repeats `code` for older clients.' }) error!: string;
  @ApiProperty({ description: 'For a person.' }) message!: string;

  @ApiProperty({ required: false, description: 'The provider the refusal is about.' })
  provider?: string;

  @ApiProperty({ required: false, type: [ErrorDetailDto] }) details?: ErrorDetailDto[];
  @ApiProperty({ required: false }) requestId?: string;
}

/** `{success: true}`. */
export class SuccessDto {
  @ApiProperty({ enum: [true] }) success!: true;
}

/** The shape of a route's 200 answer. */
export const Answers = (type: Type): MethodDecorator =>
  applyDecorators(HttpCode(200), ApiResponse({ status: 200, type }));

const REFUSALS = 'gatehouse:refusals';

/**
 * The codes that only this route refuses with. Those of its access, its rate limit and its body are
 * added when the document is built (api-document.ts).
 */
export function Refuses(...codes: readonly ErrorCode[]): MethodDecorator {
  return (_target, _key, descriptor: PropertyDescriptor) => {
    const handler = descriptor.value as object;
    Reflect.defineMetadata(REFUSALS, [...codes, ...refusalsOf(handler)], handler);
  };
}

/** What {@link Refuses} declared on this handler. */
export function refusalsOf(handler: object): readonly ErrorCode[] {
  return (Reflect.getMetadata(REFUSALS, handler) ?? []) as readonly ErrorCode[];
}

/** The responses of an operation that refuses with these codes, by status. */
export function refusalResponses(codes: ReadonlySet<ErrorCode>): Record<string, object> {
  const responses: Record<string, { description: string; content: object }> = {};
  for (const [code, { status }] of Object.entries(ERRORS)) {
    if (codes.has(code as ErrorCode)) {
      const others = responses[status]?.description;
      responses[status] = {
        description: others === undefined ? `\`${code}\`` : `${others}, \`${code}\``,
        content: { 'application/json': { schema: { $ref: getSchemaPath(ErrorDto) } } },
      };
    }
  }
  return responses;
}
