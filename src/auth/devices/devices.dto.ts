import { ApiProperty } from '@nestjs/swagger';
import { IsString, Matches, MaxLength } from 'class-validator';

const X25519 = "The new device's throw-away X25519 public key, 32 bytes in base64.";

export class DeviceRequestDto {
  @ApiProperty({ description: X25519 })
  @MaxLength(64)
  @IsString()
  publicKey!: string;
}

export class DeviceResponseDto {
  @ApiProperty({ description: X25519 })
  @MaxLength(64)
  @IsString()
  publicKey!: string;

  @ApiProperty({
    description: "The account's secret, sealed to the new device's key. Up to 16 KiB.",
  })
  @Matches(/^[^\p{C}]+$/u, { message: 'response must hold printable characters' })
  @MaxLength(16_384)
  @IsString()
  response!: string;
}

export class DeviceRequestStateDto {
  @ApiProperty({ enum: ['requested', 'authorized'] })
  state!: 'requested' | 'authorized';

  @ApiProperty({ required: false, description: 'While requested: Unix milliseconds.' })
  expiresAt?: number;

  @ApiProperty({
    required: false,
    description: 'Once authorized: a bearer token, handed out once.',
  })
  token?: string;

  @ApiProperty({ required: false, description: 'Once authorized: what the old device sealed.' })
  response?: string;
}
