import { ApiProperty } from '@nestjs/swagger';
import { ApiList, ApiTextOrNull, ApiTime, Described } from '../../http/route-docs.js';
import { IsClientName, MAX_NAME } from './login-origin.js';

export class SessionClientDto {
  @ApiTextOrNull() name!: string | null;
  @ApiTextOrNull() platform!: string | null;
}

export class ListedSessionDto {
  @ApiProperty() id!: string;
  @Described('When it signed in, Unix milliseconds.') createdAt!: number;
  @Described('Unix milliseconds, right to five minutes.') lastSeenAt!: number;
  @ApiTime() expiresAt!: number;
  @Described("`key_challenge`, `mtls`, `device` or a provider's id.") method!: string;
  @Described('What the client said of itself at login.') client!: SessionClientDto;
  @ApiTextOrNull('Where the login came from.') address!: string | null;
}

export class SessionDto extends ListedSessionDto {
  @Described('Whether it is the session of this request.') current!: boolean;
}

export class SessionListDto {
  @ApiList(SessionDto, 'Newest first.') sessions!: readonly SessionDto[];
}

export class RenameSessionDto {
  @ApiProperty({ minLength: 1, maxLength: MAX_NAME, description: 'Printable characters.' })
  @IsClientName()
  name!: string;
}
