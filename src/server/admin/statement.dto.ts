import { ApiProperty } from '@nestjs/swagger';
import { Described } from '../http/route-docs.js';
import type { Parameter, Statement } from '../../core/policy/messages/statement.js';

const TEXTS = { type: 'array', items: { type: 'string' } } as const;
const VALUES = ['string', 'number', 'boolean'] as const;

/** A sentence that programs can show in another language. */
export class StatementDto implements Statement {
  @Described('For programs.') code!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: { nullable: true, oneOf: [...VALUES.map((type) => ({ type })), TEXTS] },
    description: 'Values in the message; their names and types belong to the code.',
  })
  params!: Readonly<Record<string, Parameter>>;

  @Described('For a person, in English.') message!: string;
}
