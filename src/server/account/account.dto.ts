import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { IsIn, IsInt, Max, Min, ValidateBy } from 'class-validator';
import {
  ApiList,
  ApiOptional,
  ApiTextOrNull,
  ApiTime,
  ApiTimeOrNull,
  Described,
} from '../http/route-docs.js';
import { OpaqueJson } from '../http/request-validation.pipe.js';
import type { EligibilityStatus } from '../../core/policy/eligibility/eligibility.js';
import type { AccountMode, KeyMode } from '../../core/policy/operator-policy.js';
import {
  isContent,
  isServiceName,
  isStorableText,
  MAX_CREDENTIALS,
  type Content,
} from '../../core/protocol/content.js';

const MODES: readonly AccountMode[] = ['e2ee', 'plain'];

type Schema = Extract<ApiPropertyOptions, { readonly additionalProperties: unknown }>;

const ENCRYPTED: NonNullable<Schema['oneOf']>[number] = {
  type: 'object',
  required: ['t', 'c'],
  properties: { t: { type: 'string', enum: ['encrypted'] }, c: { type: 'string' } },
};

const PLAIN: NonNullable<Schema['oneOf']>[number] = {
  type: 'object',
  required: ['t', 'v'],
  properties: { t: { type: 'string', enum: ['plain'] }, v: { description: 'Any JSON value.' } },
};

const ENVELOPE: Schema = {
  type: 'object',
  additionalProperties: true,
  oneOf: [ENCRYPTED, PLAIN],
};

const CONTENT_MESSAGE =
  'must be {"t": "encrypted", "c": text} or {"t": "plain", "v": any JSON value}';

const ApiContent = (): PropertyDecorator => ApiProperty(ENVELOPE);

/** Content in its envelope, or null for none. */
const ApiContentOrNull = (): PropertyDecorator => ApiProperty({ ...ENVELOPE, nullable: true });

/** A required field that holds content; with `orNull` it may hold null. */
const IsContent = ({ orNull = false } = {}): PropertyDecorator =>
  applyDecorators(
    OpaqueJson(),
    ValidateBy({
      name: 'isContent',
      validator: {
        validate: (value: unknown) => (orNull && value === null) || isContent(value),
        defaultMessage: () => `$property ${CONTENT_MESSAGE}${orNull ? ', or null' : ''}`,
      },
    }),
  );

const MAX_VERSION = 2_147_483_646;

/** The version that the client read before it writes; 0 before the first write. */
const IsVersion = (): PropertyDecorator =>
  applyDecorators(ApiProperty({ minimum: 0 }), IsInt(), Min(0), Max(MAX_VERSION));

class EligibilityDto {
  @ApiProperty({ enum: ['unknown', 'eligible', 'ineligible'] }) status!: EligibilityStatus;
  @ApiTextOrNull() reason!: string | null;

  @ApiTimeOrNull() checkedAt!: number | null;

  @ApiTimeOrNull() nextCheckAt!: number | null;
}

class IdentityDto {
  @ApiProperty() provider!: string;
  @ApiTextOrNull() login!: string | null;
  @ApiProperty() eligibility!: EligibilityDto;
  @ApiTime() connectedAt!: number;
}

export class AccountProfileDto {
  @ApiProperty() id!: string;
  @ApiTime() createdAt!: number;
  @ApiProperty({ enum: ['keyed', 'keyless'] }) keyMode!: KeyMode;
  @ApiProperty({ enum: MODES }) encryptionMode!: AccountMode;
  @ApiList(IdentityDto) identities!: readonly IdentityDto[];
}

export class SettingsDto {
  @ApiTextOrNull('Encrypted by the client.') settings!: string | null;

  @Described('0 = never written.') settingsVersion!: number;
}

export class WriteSettingsDto {
  @ApiTextOrNull('Encrypted by the client.')
  @ValidateBy({
    name: 'isSettings',
    validator: {
      validate: (value: unknown) => value === null || isStorableText(value),
      defaultMessage: () => 'settings must be a text, or null',
    },
  })
  settings!: string | null;

  @IsVersion() expectedVersion!: number;
}

/** `version` on success; the other fields on a version mismatch. */
export class WrittenDto {
  @ApiProperty() success!: boolean;
  @ApiOptional() version?: number;
  @ApiProperty({ required: false, enum: ['version-mismatch'] }) error?: 'version-mismatch';
  @ApiOptional() currentVersion?: number;
}

export class SettingsWrittenDto extends WrittenDto {
  @ApiProperty({ required: false, nullable: true, type: String }) currentSettings?: string | null;
}

export class SettingsV2Dto {
  @ApiContentOrNull() content!: Content | null;
  @Described('0 = never written.') version!: number;
}

export class WriteSettingsV2Dto {
  @ApiContentOrNull()
  @IsContent({ orNull: true })
  content!: Content | null;

  @IsVersion() expectedVersion!: number;
}

export class SettingsV2WrittenDto extends WrittenDto {
  @ApiContentOrNull() currentContent?: Content | null;
}

export class CredentialDto {
  @ApiProperty() service!: string;
  @ApiContent() content!: Content;
  @ApiTime() updatedAt!: number;
}

export class CredentialListDto {
  @ApiList(CredentialDto, 'By service.') credentials!: readonly CredentialDto[];
}

export class PutCredentialDto {
  @ApiContent()
  @IsContent()
  content!: Content;
}

export class EncryptionDto {
  @ApiProperty({ enum: MODES }) mode!: AccountMode;
  @ApiTime() updatedAt!: number;
}

export class ChangeEncryptionDto {
  @ApiProperty({ enum: MODES })
  @IsIn(MODES)
  mode!: AccountMode;
}

export class MigratedCredentialDto {
  @ApiProperty() service!: string;
  @ApiContent() content!: Content;

  @ApiOptional('As it was listed: a write since then is a version mismatch, and is not lost.')
  updatedAt?: number;
}

export class MigrateEncryptionDto {
  @ApiProperty({ enum: MODES })
  @IsIn(MODES)
  toMode!: AccountMode;

  @IsVersion() expectedSettingsVersion!: number;

  @ApiContentOrNull()
  @IsContent({ orNull: true })
  settings!: Content | null;

  @ApiList(MigratedCredentialDto, 'Those of every service that has some.')
  @OpaqueJson()
  @ValidateBy({
    name: 'isCredentialList',
    validator: {
      validate: isCredentialList,
      defaultMessage: () =>
        'credentials must be a list of {service, content, updatedAt?}, each service once',
    },
  })
  credentials!: readonly MigratedCredentialDto[];
}

/** `mode`, `settingsVersion` and `updatedAt` on success; the others on a version mismatch. */
export class MigratedDto {
  @ApiProperty() success!: boolean;
  @ApiProperty({ required: false, enum: MODES }) mode?: AccountMode;
  @ApiOptional() settingsVersion?: number;
  @ApiOptional('Unix milliseconds.') updatedAt?: number;
  @ApiProperty({ required: false, enum: ['version-mismatch'] }) error?: 'version-mismatch';
  @ApiOptional() currentVersion?: number;
  @ApiContentOrNull() currentContent?: Content | null;
}

function isCredentialList(value: unknown): value is readonly MigratedCredentialDto[] {
  if (!Array.isArray(value) || value.length > MAX_CREDENTIALS) {
    return false;
  }
  const services = new Set<string>();
  for (const entry of value as readonly unknown[]) {
    const { service, content, updatedAt = 0 } = (entry ?? {}) as Readonly<Record<string, unknown>>;
    if (typeof service !== 'string' || !isServiceName(service) || !isContent(content)) {
      return false;
    }
    if (!Number.isSafeInteger(updatedAt)) {
      return false;
    }
    services.add(service);
  }
  return services.size === value.length;
}
