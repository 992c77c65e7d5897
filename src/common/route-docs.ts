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

/** The codes a route can refuse with, grouped by status in the OpenAPI document. */
export function Refuses(...codes: readonly ErrorCode[]): MethodDecorator {
  const responses = [...groupByStatus(codes)].map(([status, grouped]) =>
    ApiResponse({
      status,
      description: grouped.map((code) => `\`${code}\``).join(', '),
      schema: { $ref: getSchemaPath(ErrorDto) },
    }),
  );
  return applyDecorators(ApiExtraModels(ErrorDto, ErrorDetailDto), ...responses);
}

function groupByStatus(codes: readonly ErrorCode[]): Map<number, ErrorCode[]> {
  const groups = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const { status } = ERRORS[code];
    groups.set(status, [...(groups.get(status) ?? []), code]);
  }
  return groups;
}
