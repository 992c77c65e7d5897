import { applyDecorators, HttpCode, type Type } from '@nestjs/common';
import { ApiExtraModels, ApiProperty, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { ERRORS, type ErrorCode } from './errors.js';

class ErrorDetailDto {
  @ApiProperty({ description: 'The field the message is about.' })
  path!: string;

  @ApiProperty()
  message!: string;
}

/** The one shape of every refusal. */
class ErrorDto {
  @ApiProperty()
  statusCode!: number;

  @ApiProperty({ description: 'What programs read.' })
  code!: string;

  @ApiProperty({ description: 'Repeats `code` for older clients.' })
  error!: string;

  @ApiProperty({ description: 'For a person.' })
  message!: string;

  @ApiProperty({ required: false, description: 'The provider the refusal is about.' })
  provider?: string;

  @ApiProperty({ required: false, type: [ErrorDetailDto] })
  details?: ErrorDetailDto[];

  @ApiProperty({ required: false })
  requestId?: string;
}

/** `{success: true}`. */
export class SuccessDto {
  @ApiProperty({ enum: [true] })
  success!: true;
}

/** The shape of a route's 200 answer. */
export const Answers = (type: Type): MethodDecorator =>
  applyDecorators(HttpCode(200), ApiResponse({ status: 200, type }));

const REFUSALS = 'gatehouse:refusals';

/** The codes a route can refuse with, of every use of this on it, grouped by status. */
export function Refuses(...codes: readonly ErrorCode[]): MethodDecorator {
  return (target, key, descriptor: PropertyDescriptor) => {
    const handler = descriptor.value as object;
    const known = (Reflect.getMetadata(REFUSALS, handler) ?? []) as readonly ErrorCode[];
    const all = [...new Set([...codes, ...known])];
    Reflect.defineMetadata(REFUSALS, all, handler);
    const responses = [...groupByStatus(all)].map(([status, grouped]) =>
      ApiResponse({
        status,
        description: grouped.map((code) => `\`${code}\``).join(', '),
        schema: { $ref: getSchemaPath(ErrorDto) },
      }),
    );
    const document = applyDecorators(ApiExtraModels(ErrorDto, ErrorDetailDto), ...responses);
    document(target, key, descriptor);
  };
}

function groupByStatus(codes: readonly ErrorCode[]): Map<number, ErrorCode[]> {
  const groups = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const { status } = ERRORS[code];
    groups.set(status, [...(groups.get(status) ?? []), code]);
  }
  return groups;
}
