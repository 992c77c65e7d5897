import { ApiProperty } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayUnique, IsArray, IsString, MaxLength } from 'class-validator';
import { ApiTextOrNull } from '../http/route-docs.js';

export class ProgramDto {
  @ApiProperty({ description: 'Client id.' }) id!: string;
  @ApiProperty({ description: 'As the program names itself, which proves nothing.' })
  name!: string;
}

export class ProgramResourceDto {
  @ApiProperty({ description: 'Client id of the backend.' }) id!: string;
  @ApiProperty() name!: string;
}

export class ProgramScopeDto {
  @ApiProperty() id!: string;
  @ApiProperty({ description: 'In words, as the operator configured them.' }) text!: string;
  @ApiProperty({ type: [String], description: 'Scopes without which it means nothing.' })
  requires!: string[];
}

export class AuthorizationRequestDto {
  @ApiProperty({ type: ProgramDto }) client!: ProgramDto;
  @ApiProperty({ description: 'The code is sent there.' }) redirectUri!: string;
  @ApiProperty({ type: ProgramResourceDto }) resource!: ProgramResourceDto;
  @ApiProperty({ type: [ProgramScopeDto] }) scopes!: ProgramScopeDto[];
  @ApiProperty({ description: 'End of the request, Unix milliseconds.' }) expiresAt!: number;
  @ApiProperty({ description: 'End of the access, Unix milliseconds.' }) grantExpiresAt!: number;
}

/** Repeats what was shown. */
export class ApprovalDto {
  @ApiProperty({ maxLength: 512 })
  @IsString()
  @MaxLength(512)
  clientId!: string;

  @ApiProperty({ maxLength: 2048 })
  @IsString()
  @MaxLength(2048)
  redirectUri!: string;

  @ApiProperty({ type: [String], description: 'Ids of the granted scopes: at least one.' })
  @IsArray()
  @ArrayMaxSize(100)
  @ArrayUnique()
  @IsString({ each: true })
  scopes!: string[];
}

export class RedirectDto {
  @ApiProperty({ description: "The program's address with the answer: go there." })
  redirectTo!: string;
}

export class GrantDto {
  @ApiProperty() id!: string;
  @ApiProperty({ type: ProgramDto }) client!: ProgramDto;
  @ApiProperty({ description: 'The address that receives its codes.' }) redirectUri!: string;
  @ApiProperty({ type: ProgramResourceDto }) resource!: ProgramResourceDto;
  @ApiProperty({ type: [ProgramScopeDto] }) scopes!: ProgramScopeDto[];
  @ApiProperty({ enum: ['code', 'file'] }) kind!: 'code' | 'file';
  @ApiProperty({ description: 'The method of the login that approved it.' }) method!: string;
  @ApiProperty({ description: 'Unix milliseconds.' }) createdAt!: number;
  @ApiProperty({ description: 'Its last token, Unix milliseconds.' }) lastUsedAt!: number;
  @ApiTextOrNull('The address that asked for its last token.') lastAddress!: string | null;
  @ApiProperty({ description: 'Unix milliseconds.' }) expiresAt!: number;
}

export class GrantListDto {
  @ApiProperty({ type: [GrantDto] }) programs!: GrantDto[];
}

export class RevocationForm {
  @ApiProperty({ description: 'A refresh token.' })
  @IsString()
  @MaxLength(8192)
  token!: string;

  @ApiProperty({ description: 'The program that it was issued to.' })
  @IsString()
  @MaxLength(512)
  client_id!: string;
}
