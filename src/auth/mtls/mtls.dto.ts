import { ApiProperty } from '@nestjs/swagger';
import { IsString, MaxLength } from 'class-validator';
import { LoginClientDto } from '../sessions/login-origin.js';

export class ClaimDto extends LoginClientDto {
  @ApiProperty({ description: 'What the return address was given as `code`.' })
  @IsString()
  @MaxLength(128)
  code!: string;
}
