import { ApiProperty } from '@nestjs/swagger';
import { IsObject } from 'class-validator';
import { OpaqueJson } from '../../http/request-validation.pipe.js';
import { StatementDto } from '../statement.dto.js';
import type { LockoutFinding } from '../../../core/policy/findings/lockout.js';
import { ApiList, Described } from '../../http/route-docs.js';

export class FindingDto extends StatementDto {
  @ApiProperty({ enum: ['error', 'warning', 'notice'] }) severity!: LockoutFinding['severity'];
}

export class AdminPolicyDto {
  @ApiList(String, 'The policy in sentences.') sentences!: readonly string[];

  @ApiList(StatementDto, 'The same sentences, to translate.') statements!: readonly StatementDto[];

  @ApiList(FindingDto, 'What may not be meant, errors first.') findings!: readonly FindingDto[];
}

class PresentVariableDto {
  @ApiProperty() name!: string;
  @Described('As text, as the environment has it or would have it.') value!: string;
  @Described('False: the value is the default.') isSet!: boolean;
}

export class PresentVariablesDto {
  @ApiList(PresentVariableDto) variables!: readonly PresentVariableDto[];
}

export class PlanRequestDto {
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    description:
      'Variables that would change, by their names; the others stay as they are. An empty text is the default. Not those that name files or hold secrets, except AUTH_PROVIDERS_CONFIG_JSON, whose entries need no credentials and may name no files.',
    example: { AUTH_REQUIRED_LOGIN_PROVIDERS: 'okta' },
  })
  @OpaqueJson()
  @IsObject()
  environment!: Record<string, unknown>;
}

class PlannedResourceServerDto {
  @ApiProperty() id!: string;
  @Described('Accounts whose sessions would lose its tokens.') lose!: number;
  @Described('Accounts whose sessions would get its tokens.') gain!: number;
  @Described('Unknown until the provider is asked.') unknown!: number;
}

export class PlanDto {
  @Described('How many accounts were judged.') accounts!: number;

  @Described('All accounts; an estimate above 100000.') total!: number;

  @Described('Whether the accounts that were judged are a random sample of all.')
  isSample!: boolean;

  @Described('Would lose access.') lose!: number;
  @Described('Would get access.') gain!: number;

  @Described('Unknown until the provider is asked: they are checked after the change.')
  unknown!: number;

  @ApiList(String, 'Ids of some that would lose access.') losing!: readonly string[];

  @ApiList(String, 'Ids of some that would get it.') gaining!: readonly string[];

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    description:
      'Logins or e-mail addresses of those accounts by id, where a provider reported one.',
  })
  names!: Readonly<Record<string, string>>;

  @ApiList(PlannedResourceServerDto, 'The backends of the present and of the changed policy.')
  resourceServers!: readonly PlannedResourceServerDto[];

  @Described('The changed policy.') policy!: AdminPolicyDto;
}
