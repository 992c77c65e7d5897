import { ApiProperty } from '@nestjs/swagger';
import { IsString, Length, Matches } from 'class-validator';
import {
  ApiList,
  ApiTextOrNull,
  ApiTime,
  ApiTimeOrNull,
  Described,
} from '../../http/route-docs.js';
import { ReasonDto } from '../accounts/admin-accounts.dto.js';
import { PageDto } from '../page.dto.js';
import {
  PROVIDER_SIGNAL_KINDS,
  type ProviderSignalKind,
} from '../../storage/repositories/signals/provider-signal.repository.js';
import type { StreamStatus } from '../../storage/repositories/signals/signal-stream.repository.js';

const DELIVERIES = ['push', 'poll'] as const;
const STATUSES = ['enabled', 'paused', 'disabled', 'missing'] as const satisfies StreamStatus[];

class LastSignalDto {
  @ApiProperty({ enum: PROVIDER_SIGNAL_KINDS, description: '`scim`: a request of the directory.' })
  kind!: ProviderSignalKind;

  @ApiTime() at!: number;
}

class ProviderStreamDto {
  @Described('The issuer of the events.') transmitter!: string;
  @ApiProperty({ enum: DELIVERIES }) delivery!: (typeof DELIVERIES)[number];

  @ApiProperty({
    enum: STATUSES,
    nullable: true,
    type: String,
    description: 'At the transmitter; null = `gatehouse signals connect` has not made it.',
  })
  status!: StreamStatus | null;

  @ApiTextOrNull('Given by the transmitter.') reason!: string | null;

  @ApiTextOrNull('Why the last request to the transmitter failed; null = it was answered.')
  failure!: string | null;

  @ApiTimeOrNull('The last verification or answered poll.') seenAt!: number | null;

  @ApiTimeOrNull() verifiedAt!: number | null;
}

class ProviderDirectoryDto {
  @ApiProperty() people!: number;
  @ApiProperty() active!: number;
  @Described('People who are linked to an identity.') matched!: number;
  @ApiProperty() unmatched!: number;
  @Described('Those of them who match more than one identity or person.') ambiguous!: number;
  @Described('Within the last hour.') recentlyDeactivated!: number;
  @Described('Whether access needs an active person in it.') isRequired!: boolean;
}

class ProviderSignalsDto {
  @Described('Of the provider.') id!: string;

  @ApiList(LastSignalDto, 'The last of each kind, the newest first.')
  received!: readonly LastSignalDto[];

  @ApiProperty({ nullable: true, type: ProviderStreamDto }) stream!: ProviderStreamDto | null;

  @ApiProperty({
    nullable: true,
    type: ProviderDirectoryDto,
    description: 'Counted again after 30 seconds.',
  })
  directory!: ProviderDirectoryDto | null;
}

export class AdminSignalsDto {
  @ApiList(ProviderSignalsDto, 'Providers that can report leavers, or have done so.')
  providers!: readonly ProviderSignalsDto[];
}

class UnmatchedPersonDto {
  @Described('In the directory here.') id!: string;
  @ApiProperty() userName!: string;
  @ApiTextOrNull() externalId!: string | null;
  @ApiProperty() isActive!: boolean;
  @Described('More than one identity or person matches.') isAmbiguous!: boolean;
  @ApiTime() changedAt!: number;
  @Described('The directory or an event refuses the first login.') isRefused!: boolean;
}

export class RefusedPersonDto extends ReasonDto {
  @ApiProperty({
    minLength: 1,
    maxLength: 320,
    description: 'Subject, external id, user name or e-mail address; or the id of the list.',
  })
  @Matches(/^[^\p{Cc}]*$/u, { message: 'name must not have control characters' })
  @Length(1, 320)
  @IsString({ message: 'name is missing: say who is refused' })
  name!: string;
}

export class UnmatchedPageDto extends PageDto {
  @ApiList(UnmatchedPersonDto) people!: readonly UnmatchedPersonDto[];
}
