import { ApiProperty } from '@nestjs/swagger';
import { ApiTextOrNull } from '../../http/route-docs.js';

export class AdministeredProgramDto {
  @ApiProperty() id!: string;
  @ApiProperty() clientId!: string;
  @ApiProperty({ description: 'As the program named itself.' }) clientName!: string;
  @ApiProperty() redirectUri!: string;
  @ApiProperty({ description: 'Client id of the backend.' }) resourceServer!: string;
  @ApiProperty({ type: [String] }) scopes!: readonly string[];
  @ApiProperty({ enum: ['code', 'file'] }) kind!: 'code' | 'file';
  @ApiProperty({ description: 'The method of the login that approved it.' }) method!: string;
  @ApiProperty({ description: 'Unix milliseconds.' }) createdAt!: number;
  @ApiProperty({ description: 'Its last token, Unix milliseconds.' }) lastUsedAt!: number;
  @ApiTextOrNull('The address that asked for its last token.') lastAddress!: string | null;
  @ApiProperty({ description: 'Unix milliseconds.' }) expiresAt!: number;
}

export class AdministeredProgramListDto {
  @ApiProperty({ type: [AdministeredProgramDto] })
  programs!: readonly AdministeredProgramDto[];
}
