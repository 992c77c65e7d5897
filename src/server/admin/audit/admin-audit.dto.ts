import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsUUID } from 'class-validator';
import { OptionalField, Line, OptionalNumber, OptionalText } from '../../http/text-field.js';
import { ApiList, ApiOptional, ApiTextOrNull, ApiTime, Described } from '../../http/route-docs.js';
import { AUDIT_KINDS, type AuditKind } from '../../../core/policy/audit-event.js';
import { AUDIT_ORDERS, type AuditOrder } from '../../storage/repositories/audit.repository.js';

/** End of the year 9998, which PostgreSQL and JavaScript both support. */
const LAST_TIME = Date.UTC(9999, 0) - 1;

export class AuditQueryDto {
  @OptionalField({ enum: AUDIT_KINDS })
  @IsIn(AUDIT_KINDS)
  kind?: AuditKind;

  @OptionalField()
  @IsUUID()
  accountId?: string;

  @OptionalField('The name of an operator, or `user`, `system` or `provider`.')
  @Line(1, 64)
  actor?: string;

  @OptionalField(
    'The beginning of the login, e-mail address or subject of a person that rules refused, in any case.',
  )
  @Line(1, 320)
  person?: string;

  @ApiOptional('First moment, Unix milliseconds.')
  @OptionalNumber(0, LAST_TIME)
  since?: number;

  @ApiOptional('The moment behind the last, Unix milliseconds.')
  @OptionalNumber(0, LAST_TIME)
  until?: number;

  @ApiProperty({
    required: false,
    minimum: 1,
    maximum: 1_000_000,
    description: 'Events of a page, 1 to 200 (default 50); of an export, at most (default 100000).',
  })
  @OptionalNumber(1, 1_000_000)
  limit?: number;

  @OptionalField({ enum: AUDIT_ORDERS, default: 'newest-first' })
  @IsIn(AUDIT_ORDERS)
  order: AuditOrder = 'newest-first';

  @OptionalText(2048, { description: '`cursor` of the page before; not of an export.' })
  cursor?: string;
}

export class AuditEventDto {
  @ApiProperty() id!: string;
  @ApiTime() at!: number;
  @ApiProperty({ enum: AUDIT_KINDS }) kind!: AuditKind;
  @Described('`user`, `system`, `provider`, or the name of an operator.') actor!: string;
  @ApiTextOrNull() accountId!: string | null;

  @ApiOptional('Name of the account now: an e-mail address or a login of its identities.')
  accountName?: string;

  @ApiOptional() provider?: string;
  @ApiOptional('A code, or why an operator acted.') reason?: string;
  @ApiOptional('The error code of the provider, or what of its answer was refused.')
  detail?: string;

  @ApiOptional() sessionId?: string;
  @ApiOptional('Of the client.') address?: string;

  @ApiOptional('The person that the rules refused, as the provider identifies them.')
  subject?: string;

  @ApiOptional('Of that person.') login?: string;

  @ApiOptional('Of that person, verified by the provider.') email?: string;

  @ApiOptional('Of the events of an invitation; the actor of `invitation-used` is who made it.')
  invitationId?: string;

  @ApiOptional('The last characters of a push token.') tokenEnd?: string;

  @ApiOptional('How many alike this one stands for.') count?: number;

  @ApiOptional('The issuer of the signal that caused it.') issuer?: string;

  @ApiOptional('The `txn` of that signal at its transmitter.') signalTxn?: string;

  @ApiOptional('The transaction that stored it: the `txn` of security events of the same cause.')
  txn?: string;
}

export class AuditPageDto {
  @ApiList(AuditEventDto, 'In the order that was asked for.') events!: readonly AuditEventDto[];

  @ApiTextOrNull('null = the last page. A page before it may have few events, or none.')
  cursor!: string | null;
}
