import { ApiProperty } from '@nestjs/swagger';
import { IsString, Length, MaxLength } from 'class-validator';
import { ClientDto, IsClient } from '../sessions/login-origin.js';

export class FinalizeKeylessDto {
  @ApiProperty({ description: 'What the return address brought.' })
  @IsString()
  @Length(1, 128)
  pending!: string;

  @ApiProperty({ description: 'The secret whose hash the login began with.' })
  @IsString()
  @MaxLength(1024)
  proof!: string;

  @ApiProperty({ required: false, type: ClientDto })
  @IsClient()
  client?: ClientDto;
}
