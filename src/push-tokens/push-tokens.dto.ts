import { ApiProperty } from '@nestjs/swagger';
import { IsOptional, IsString, Matches, MaxLength } from 'class-validator';

export class SavePushTokenDto {
  @ApiProperty({ description: '1 to 1024 printable characters.' })
  @Matches(/^[^\p{C}\p{Zl}\p{Zp}]+$/u, { message: 'token must be 1 to 1024 printable characters' })
  @MaxLength(1024)
  @IsString()
  token!: string;

  @ApiProperty({
    required: false,
    nullable: true,
    type: String,
    description: 'The address at which the app reaches this server.',
  })
  @IsOptional()
  @Matches(/^[^\p{C}]*$/u, { message: 'clientServerUrl must hold printable characters only' })
  @MaxLength(2048)
  @IsString()
  clientServerUrl?: string | null;
}

export class PushTokenDto {
  @ApiProperty()
  id!: string;

  @ApiProperty()
  token!: string;

  @ApiProperty({ nullable: true, type: String })
  clientServerUrl!: string | null;

  @ApiProperty({ description: 'Unix milliseconds.' })
  createdAt!: number;

  @ApiProperty({ description: 'Unix milliseconds.' })
  updatedAt!: number;
}

export class PushTokenListDto {
  @ApiProperty({ type: [PushTokenDto], description: 'Newest first.' })
  tokens!: PushTokenDto[];
}
