import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';
import { isStorableText, type Content } from '../policy/content.js';
import { ApiContentOrNull, IsContent, IsVersion } from './content.dto.js';

export class SettingsDto {
  @ApiProperty({ nullable: true, type: String, description: 'Encrypted by the client.' })
  settings!: string | null;

  @ApiProperty({ description: '0 = never written.' })
  settingsVersion!: number;
}

export class WriteSettingsDto {
  @ApiProperty({ nullable: true, type: String, description: 'Encrypted by the client.' })
  @ValidateBy({
    name: 'isSettings',
    validator: {
      validate: (value: unknown) => value === null || isStorableText(value),
      defaultMessage: () => 'settings must be a text, or null',
    },
  })
  settings!: string | null;

  @IsVersion()
  expectedVersion!: number;
}

/** `version` when it was written; the other fields when somebody else was faster. */
class WrittenDto {
  @ApiProperty()
  success!: boolean;

  @ApiProperty({ required: false })
  version?: number;

  @ApiProperty({ required: false, enum: ['version-mismatch'] })
  error?: 'version-mismatch';

  @ApiProperty({ required: false })
  currentVersion?: number;
}

export class SettingsWrittenDto extends WrittenDto {
  @ApiProperty({ required: false, nullable: true, type: String })
  currentSettings?: string | null;
}

export class SettingsV2Dto {
  @ApiContentOrNull()
  content!: Content | null;

  @ApiProperty({ description: '0 = never written.' })
  version!: number;
}

export class WriteSettingsV2Dto {
  @ApiContentOrNull()
  @IsContent({ orNull: true })
  content!: Content | null;

  @IsVersion()
  expectedVersion!: number;
}

export class SettingsV2WrittenDto extends WrittenDto {
  @ApiContentOrNull()
  currentContent?: Content | null;
}
