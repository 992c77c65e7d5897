import { ApiProperty } from '@nestjs/swagger';
import { ApiList, ApiTextOrNull } from '../../http/route-docs.js';

class AdministeredClientDto {
  @ApiProperty({ description: 'Client id.' }) id!: string;
  @ApiProperty({ description: 'As the program named itself, which proves nothing.' })
  name!: string;
}

class AdministeredResourceDto {
  @ApiProperty({ description: 'Client id of the backend.' }) id!: string;
  @ApiProperty() name!: string;
}

class AdministeredScopeDto {
  @ApiProperty() id!: string;
  @ApiProperty({ description: 'In words, as the operator configured them.' }) text!: string;
}

export class AdministeredProgramDto {
  @ApiProperty() id!: string;
  @ApiProperty() client!: AdministeredClientDto;
  @ApiTextOrNull('The address that receives its codes; null for a file.')
  redirectUri!: string | null;

  @ApiProperty() resource!: AdministeredResourceDto;
  @ApiList(AdministeredScopeDto) scopes!: readonly AdministeredScopeDto[];
  @ApiProperty({ enum: ['code', 'file'] }) kind!: 'code' | 'file';
  @ApiProperty({ description: 'The method of the login that approved it.' }) method!: string;
  @ApiProperty({ description: 'Unix milliseconds.' }) createdAt!: number;
  @ApiProperty({ description: 'Its last token, Unix milliseconds.' }) lastUsedAt!: number;
  @ApiTextOrNull('The address that asked for its last token.') lastAddress!: string | null;
  @ApiProperty({ description: 'Unix milliseconds.' }) expiresAt!: number;
}

export class AdministeredProgramListDto {
  @ApiList(AdministeredProgramDto) programs!: readonly AdministeredProgramDto[];
}
