import { ApiProperty } from '@nestjs/swagger';
import { IsString, MaxLength } from 'class-validator';

export class ClaimDto {
  @ApiProperty({ description: 'What the return address was given as `code`.' })
  @IsString()
  @MaxLength(128)
  code!: string;
}
