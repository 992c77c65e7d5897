import { ApiProperty } from '@nestjs/swagger';
import { ArrayUnique, IsInt, Matches, Max, Min } from 'class-validator';
import { OptionalField, TextList, Text } from '../http/text-field.js';
import { ApiList, ApiTextOrNull, ApiTime, Described } from '../http/route-docs.js';

export class ProgramDto {
  @Described('Client id.') id!: string;
  @Described('As the program names itself, which proves nothing.') name!: string;
}

export class ProgramResourceDto {
  @Described('Client id of the backend.') id!: string;
  @ApiProperty() name!: string;
}

export class ProgramScopeDto {
  @ApiProperty() id!: string;
  @Described('In words, as the operator configured them.') text!: string;
  @ApiList(String, 'Scopes without which it means nothing.') requires!: string[];
}

export class AuthorizationRequestDto {
  @ApiProperty({ type: ProgramDto }) client!: ProgramDto;
  @Described('The code is sent there.') redirectUri!: string;
  @ApiProperty({ type: ProgramResourceDto }) resource!: ProgramResourceDto;
  @ApiList(ProgramScopeDto) scopes!: ProgramScopeDto[];
  @Described('End of the request, Unix milliseconds.') expiresAt!: number;
  @Described('End of the access, Unix milliseconds.') grantExpiresAt!: number;
}

/** Repeats what was shown. */
export class ApprovalDto {
  @Text(512)
  clientId!: string;

  @Text(2048)
  redirectUri!: string;

  @ApiProperty({ type: [String], description: 'Ids of the granted scopes: at least one.' })
  @ArrayUnique()
  @TextList(100)
  scopes!: string[];
}

export class RedirectDto {
  @Described("The program's address with the answer: go there.") redirectTo!: string;
}

export class GrantDto {
  @ApiProperty() id!: string;
  @ApiProperty({ type: ProgramDto }) client!: ProgramDto;
  @ApiTextOrNull('The address that receives its codes; null for a file.')
  redirectUri!: string | null;

  @ApiProperty({ type: ProgramResourceDto }) resource!: ProgramResourceDto;
  @ApiList(ProgramScopeDto) scopes!: ProgramScopeDto[];
  @ApiProperty({ enum: ['code', 'file'] }) kind!: 'code' | 'file';
  @Described('The method of the login that approved it.') method!: string;
  @ApiTime() createdAt!: number;
  @Described('Its last token, Unix milliseconds.') lastUsedAt!: number;
  @ApiTextOrNull('The address that asked for its last token.') lastAddress!: string | null;
  @ApiTime() expiresAt!: number;
}

export class GrantListDto {
  @ApiList(GrantDto) programs!: GrantDto[];
}

const LONGEST_SECONDS = 31_536_000;

export class NewProgramFileDto {
  @Described('Name of the program, 1 to 64 printable characters.')
  @Matches(/^(?! *$)[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,64}$/u, {
    message: 'name must be 1 to 64 printable characters',
  })
  name!: string;

  @Text(64, { description: 'Client id of the backend.' })
  resource!: string;

  @OptionalField({
    type: [String],
    description:
      'Ids of scopes: those that they require are granted, too. Default: the initial ones of the backend.',
  })
  @TextList(100)
  scopes?: string[];

  @OptionalField({
    minimum: 60,
    maximum: LONGEST_SECONDS,
    description: 'Default, and at most: the longest time of the backend.',
  })
  @IsInt()
  @Min(60)
  @Max(LONGEST_SECONDS)
  expiresInSeconds?: number;
}

export class ProgramFileDto {
  @ApiProperty() id!: string;
  @Described('For the token endpoint, with the refresh token.') clientId!: string;
  @Described('Shown once.') refreshToken!: string;
  @ApiProperty({ type: ProgramResourceDto }) resource!: ProgramResourceDto;
  @ApiList(ProgramScopeDto, 'All that it may do.') scopes!: ProgramScopeDto[];

  @ApiTime() expiresAt!: number;
}

export class RevocationForm {
  @Text(8192, { description: 'A refresh token.' })
  token!: string;

  @Text(512, { description: 'The program that it was issued to.' })
  client_id!: string;
}
