import { ApiProperty } from '@nestjs/swagger';
import { IsOptional, IsString, MaxLength } from 'class-validator';
import { LoginClientDto } from '../sessions/login-origin.js';

export class ClaimDto extends LoginClientDto {
  @ApiProperty({ description: 'What the return address was given as `code`.' })
  @IsString()
  @MaxLength(128)
  code!: string;

  @ApiProperty({ required: false, description: 'The secret whose hash the login began with.' })
  @IsOptional()
  @MaxLength(1024)
  @IsString()
  proof?: string;
}
