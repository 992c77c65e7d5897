import { ApiProperty } from '@nestjs/swagger';
import { Equals, IsString, Length } from 'class-validator';
import { Text } from '../../http/text-field.js';
import { LoginClientDto } from '../../auth/sessions/login-origin.js';
import { SessionClientDto } from '../../auth/sessions/sessions.dto.js';
import { DEVICE_VERSION } from '../../../core/protocol/device-version.js';
import { IsProofHash } from '../login-proof.js';
import { ApiList, ApiOptional, ApiTime, Described } from '../../http/route-docs.js';

/** 1 KiB of bytes in base64url. */
const MAX_SEALED_LENGTH = 1368;

export class RequestDeviceDto extends LoginClientDto {
  @ApiProperty({ enum: [DEVICE_VERSION], description: 'The version of adding a device.' })
  @Equals(DEVICE_VERSION, {
    message: 'must be 2: the app of the new device uses an older version of adding a device',
  })
  v!: typeof DEVICE_VERSION;

  @Text(64, {
    description:
      "The new device's raw 32-byte X25519 key, base64, standard or url-safe, padded or not.",
  })
  publicKey!: string;

  @Described('SHA-256 of a secret `proof` that the device keeps, in hex.')
  @IsProofHash()
  proofHash!: string;
}

/** The server as both devices check it. */
class DeviceServerDto {
  @ApiProperty({ enum: [DEVICE_VERSION], description: 'The version of adding a device.' })
  v!: typeof DEVICE_VERSION;

  @ApiList(String, 'The origins of this server, as in challenges. Refuse a list without your own.')
  origins!: string[];
}

export class DeviceRequestDto extends DeviceServerDto {
  @ApiProperty() id!: string;
  @Described('For the user to type on another device: `XXXX-XXXX`.') userCode!: string;
  @ApiTime() expiresAt!: number;
  @Described('The interval between two requests for the token.') intervalSeconds!: number;
}

export class WaitingDeviceDto extends DeviceServerDto {
  @ApiProperty() id!: string;
  @Described('Raw 32-byte X25519 key, unpadded base64url.') publicKey!: string;
  @Described('Sent by the device, not verified.') client!: SessionClientDto;
  @Described('The address of the device.') address!: string;
  @ApiTime() createdAt!: number;
}

export class ApproveDeviceDto {
  @Text(MAX_SEALED_LENGTH, {
    description:
      'The account, sealed to the device (RFC 9180), `enc || ct`: up to 1 KiB in unpadded base64url.',
  })
  sealed!: string;
}

export class ClaimDeviceDto extends LoginClientDto {
  @Described('The secret whose hash the device sent first.')
  @Length(1, 1024)
  @IsString()
  proof!: string;
}

export class DeviceTokenDto {
  @ApiProperty({ enum: ['pending', 'approved', 'refused'] })
  state!: 'pending' | 'approved' | 'refused';

  @ApiOptional('Bearer token. With `approved`, once.') token?: string;

  @ApiOptional('With `approved`.') accountId?: string;

  @ApiOptional('With `approved`: the account that the approving device sealed.') sealed?: string;
}
