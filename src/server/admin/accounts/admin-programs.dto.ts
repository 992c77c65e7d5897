import { ApiProperty } from '@nestjs/swagger';
import { ApiList, ApiTextOrNull, ApiTime, Described } from '../../http/route-docs.js';

class AdministeredClientDto {
  @Described('Client id.') id!: string;
  @Described('As the program named itself, which proves nothing.') name!: string;
}

class AdministeredResourceDto {
  @Described('Client id of the backend.') id!: string;
  @ApiProperty() name!: string;
}

class AdministeredScopeDto {
  @ApiProperty() id!: string;
  @Described('In words, as the operator configured them.') text!: string;
}

export class AdministeredProgramDto {
  @ApiProperty() id!: string;
  @ApiProperty() client!: AdministeredClientDto;
  @ApiTextOrNull('The address that receives its codes; null for a file.')
  redirectUri!: string | null;

  @ApiProperty() resource!: AdministeredResourceDto;
  @ApiList(AdministeredScopeDto) scopes!: readonly AdministeredScopeDto[];
  @ApiProperty({ enum: ['code', 'file'] }) kind!: 'code' | 'file';
  @Described('The method of the login that approved it.') method!: string;
  @ApiTime() createdAt!: number;
  @Described('Its last token, Unix milliseconds.') lastUsedAt!: number;
  @ApiTextOrNull('The address that asked for its last token.') lastAddress!: string | null;
  @ApiTime() expiresAt!: number;
}

export class AdministeredProgramListDto {
  @ApiList(AdministeredProgramDto) programs!: readonly AdministeredProgramDto[];
}
