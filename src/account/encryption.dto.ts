import { ApiProperty } from '@nestjs/swagger';
import { IsIn, ValidateBy } from 'class-validator';
import { isContent, type Content } from '../policy/content.js';
import { isServiceName, MAX_CREDENTIALS } from '../policy/service-name.js';
import type { AccountMode } from '../policy/storage-policy.js';
import { ApiContent, ApiContentOrNull, IsContent, IsVersion } from './content.dto.js';

const MODES: readonly AccountMode[] = ['e2ee', 'plain'];

export class EncryptionDto {
  @ApiProperty({ enum: MODES })
  mode!: AccountMode;

  @ApiProperty({ description: 'Unix milliseconds.' })
  updatedAt!: number;
}

export class ChangeEncryptionDto {
  @ApiProperty({ enum: MODES })
  @IsIn(MODES)
  mode!: AccountMode;
}

export class MigratedCredentialDto {
  @ApiProperty()
  service!: string;

  @ApiContent()
  content!: Content;
}

export class MigrateEncryptionDto {
  @ApiProperty({ enum: MODES })
  @IsIn(MODES)
  toMode!: AccountMode;

  @IsVersion()
  expectedSettingsVersion!: number;

  @ApiContentOrNull()
  @IsContent({ orNull: true })
  settings!: Content | null;

  @ApiProperty({
    type: [MigratedCredentialDto],
    description: 'Those of every service that has some.',
  })
  @ValidateBy({
    name: 'isCredentialList',
    validator: {
      validate: isCredentialList,
      defaultMessage: () => 'credentials must be a list of {service, content}, each service once',
    },
  })
  credentials!: readonly MigratedCredentialDto[];
}

/** `mode`, `settingsVersion` and `updatedAt` when it was done; the others when it was too late. */
export class MigratedDto {
  @ApiProperty()
  success!: boolean;

  @ApiProperty({ required: false, enum: MODES })
  mode?: AccountMode;

  @ApiProperty({ required: false })
  settingsVersion?: number;

  @ApiProperty({ required: false, description: 'Unix milliseconds.' })
  updatedAt?: number;

  @ApiProperty({ required: false, enum: ['version-mismatch'] })
  error?: 'version-mismatch';

  @ApiProperty({ required: false })
  currentVersion?: number;

  @ApiContentOrNull()
  currentContent?: Content | null;
}

function isCredentialList(value: unknown): value is readonly MigratedCredentialDto[] {
  if (!Array.isArray(value) || value.length > MAX_CREDENTIALS) {
    return false;
  }
  const services = new Set<string>();
  for (const entry of value as readonly unknown[]) {
    const { service, content } = (entry ?? {}) as Readonly<Record<string, unknown>>;
    if (typeof service !== 'string' || !isServiceName(service) || !isContent(content)) {
      return false;
    }
    services.add(service);
  }
  return services.size === value.length;
}
