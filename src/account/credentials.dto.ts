import { ApiProperty } from '@nestjs/swagger';
import type { Content } from '../policy/content.js';
import { ApiContent, IsContent } from './content.dto.js';

export class CredentialDto {
  @ApiProperty()
  service!: string;

  @ApiContent()
  content!: Content;

  @ApiProperty({ description: 'Unix milliseconds.' })
  updatedAt!: number;
}

export class CredentialListDto {
  @ApiProperty({ type: [CredentialDto], description: 'By service.' })
  credentials!: readonly CredentialDto[];
}

export class PutCredentialDto {
  @ApiContent()
  @IsContent()
  content!: Content;
}
