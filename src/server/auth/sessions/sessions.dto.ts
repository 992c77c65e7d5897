import { ApiProperty } from '@nestjs/swagger';
import { ApiList, ApiTextOrNull } from '../../http/route-docs.js';
import { IsClientName, MAX_NAME } from './login-origin.js';

export class SessionClientDto {
  @ApiTextOrNull() name!: string | null;
  @ApiTextOrNull() platform!: string | null;
}

export class SessionDto {
  @ApiProperty() id!: string;
  @ApiProperty({ description: 'When it signed in, Unix milliseconds.' }) createdAt!: number;
  @ApiProperty({ description: 'Unix milliseconds, right to five minutes.' }) lastSeenAt!: number;
  @ApiProperty({ description: 'Unix milliseconds.' }) expiresAt!: number;

  @ApiProperty({ description: "`key_challenge`, `mtls`, `device` or a provider's id." })
  method!: string;

  @ApiProperty({ description: 'What the client said of itself at login.' })
  client!: SessionClientDto;

  @ApiTextOrNull('Where the login came from.') address!: string | null;

  @ApiProperty({ description: 'Whether it is the session of this request.' }) current!: boolean;
}

export class SessionListDto {
  @ApiList(SessionDto, 'Newest first.') sessions!: readonly SessionDto[];
}

export class RenameSessionDto {
  @ApiProperty({ minLength: 1, maxLength: MAX_NAME, description: 'Printable characters.' })
  @IsClientName()
  name!: string;
}
