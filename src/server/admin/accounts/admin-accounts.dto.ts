import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsString, Length, Matches } from 'class-validator';
import {
  Answers,
  ApiList,
  ApiOptional,
  ApiTextOrNull,
  ApiTime,
  ApiTimeOrNull,
  Described,
  Refuses,
} from '../../http/route-docs.js';
import { Operates } from '../access/admin-caller.js';
import { ListedSessionDto } from '../../auth/sessions/sessions.dto.js';
import { PageDto, PageQueryDto } from '../page.dto.js';
import { StatementDto } from '../statement.dto.js';
import type { EligibilityStatus } from '../../../core/policy/eligibility/eligibility.js';
import type { AccountMode, KeyMode } from '../../../core/policy/operator-policy.js';
import {
  ACCOUNT_STATES,
  type AccountState,
} from '../../storage/repositories/account-search.repository.js';
import { AdministeredProgramDto } from './admin-programs.dto.js';
import { OptionalField, Line } from '../../http/text-field.js';

export class AccountQueryDto extends PageQueryDto {
  @OptionalField(
    'An id, or a part of a login, an e-mail address or a certificate subject, in any case.',
  )
  @Line(1, 200)
  query?: string;

  @OptionalField('With an identity of this provider.')
  @IsString()
  @Matches(/^[a-z0-9_-]{1,64}$/, { message: 'provider must be the id of a provider' })
  provider?: string;

  @OptionalField({ enum: ACCOUNT_STATES })
  @IsIn(ACCOUNT_STATES)
  state?: AccountState;
}

export class ReasonDto {
  @ApiProperty({ minLength: 1, maxLength: 200, description: 'Kept in the audit trail.' })
  // The decorator nearest to the field is checked first.
  @Matches(/^[^\p{Cc}]*$/u, { message: 'reason must not have control characters' })
  @Length(1, 200)
  @Matches(/\S/, { message: 'reason must say why' })
  @IsString({ message: 'reason is missing: say why' })
  reason!: string;
}

export class AdminIdentityDto {
  @ApiProperty() provider!: string;
  @Described('The identifier at the provider.') subject!: string;
  @ApiTextOrNull() login!: string | null;
  @ApiTextOrNull() email!: string | null;
  @ApiTime() connectedAt!: number;
  @ApiProperty({ enum: ['unknown', 'eligible', 'ineligible'] }) status!: EligibilityStatus;
  @ApiTextOrNull() reason!: string | null;
  @ApiTimeOrNull('Of the last definite answer.') checkedAt!: number | null;
  @ApiTimeOrNull() nextCheckAt!: number | null;
  @Described('Checks without an answer since then.') failures!: number;
}

class AccountFactsDto {
  @ApiProperty() id!: string;
  @ApiTime() createdAt!: number;
  @ApiProperty({ enum: ['active', 'disabled'] }) state!: 'active' | 'disabled';
  @ApiTimeOrNull() disabledAt!: number | null;
  @ApiProperty({ enum: ['keyed', 'keyless'] }) keyMode!: KeyMode;
  @ApiProperty({ enum: ['e2ee', 'plain'] }) encryptionMode!: AccountMode;
  @ApiList(AdminIdentityDto) identities!: readonly AdminIdentityDto[];
  @Described('The newest use of a session, right to five minutes.') lastSeenAt!: number;
}

export class ListedAccountDto extends AccountFactsDto {
  @Described('How many sessions are live.') sessions!: number;
}

export class AccountPageDto extends PageDto {
  @ApiList(ListedAccountDto, 'The last seen ones first.') accounts!: readonly ListedAccountDto[];
  @Described('How many match, on all pages; 100001 = more than 100000.') total!: number;
}

export class AdminSessionDto extends ListedSessionDto {}

class ExplainedLoginDto {
  @ApiProperty() method!: string;
  @ApiProperty() isAllowed!: boolean;
  @ApiOptional('The code of the refusal.') code?: string;
  @ApiOptional('The variable that refuses it.') variable?: string;
}

class ExplainedProviderDto {
  @ApiProperty() provider!: string;
  @ApiProperty() isRequired!: boolean;
  @ApiProperty() isConfigured!: boolean;

  @ApiProperty({
    nullable: true,
    type: 'object',
    additionalProperties: true,
    description: 'The identity with the facts that the provider gave.',
  })
  identity!: object | null;

  @ApiProperty({ nullable: true, type: 'object', additionalProperties: true })
  rules!: object | null;

  @ApiProperty({
    nullable: true,
    type: 'object',
    additionalProperties: true,
    description: 'What the rules say of the facts.',
  })
  verdict!: object | null;

  @ApiList(String) sentences!: readonly string[];

  @ApiList(StatementDto, 'The same sentences, to translate.') statements!: readonly StatementDto[];
}

class ExplainedResourceServerDto {
  @ApiProperty() id!: string;
  @ApiProperty() name!: string;
  @ApiProperty() resource!: string;
  @Described('Whether sessions of the account get its tokens.') isAllowed!: boolean;
  @ApiTextOrNull('The code of the refusal.') code!: string | null;

  @ApiTextOrNull('The provider that the refusal is about.') provider!: string | null;

  @ApiProperty() sentence!: string;
  @Described('The same sentence, to translate.') statement!: StatementDto;
}

export class AccountExplanationDto {
  @ApiProperty({ enum: ['allowed', 'refused'] }) decision!: 'allowed' | 'refused';

  @ApiProperty({
    nullable: true,
    type: String,
    enum: ['account-disabled', 'provider-required', 'not-eligible', null],
  })
  code!: 'account-disabled' | 'provider-required' | 'not-eligible' | null;

  @ApiList(String, 'The decision in words.') reasons!: readonly string[];

  @ApiList(StatementDto, 'The same reasons, to translate.') statements!: readonly StatementDto[];

  @ApiList(ExplainedLoginDto) logins!: readonly ExplainedLoginDto[];
  @ApiList(ExplainedProviderDto) providers!: readonly ExplainedProviderDto[];

  @ApiList(ExplainedResourceServerDto, 'Empty without backends.')
  resourceServers!: readonly ExplainedResourceServerDto[];
}

export class AdministeredAccountDto extends AccountFactsDto {
  @ApiList(AdminSessionDto, 'Newest first.') sessions!: readonly AdminSessionDto[];

  @ApiProperty({
    type: [AdministeredProgramDto],
    required: false,
    description:
      'Programs that may act for the account, newest first; absent where no backend accepts any.',
  })
  programs?: readonly AdministeredProgramDto[];

  @ApiProperty() explain!: AccountExplanationDto;
}

export class ActAnswerDto {
  @ApiProperty({ enum: [true] }) success!: true;
  @Described('false = it was so already, and the audit trail has no new event.') changed!: boolean;
}

/** Marks a route that acts, which the role `read` may not. */
export const Acts = (): MethodDecorator =>
  applyDecorators(Operates(), Answers(ActAnswerDto), Refuses('not-found'));
