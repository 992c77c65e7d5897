import { ApiProperty } from '@nestjs/swagger';
import {
  ApiList,
  ApiTextOrNull,
  ApiTime,
  ApiTimeOrNull,
  Described,
} from '../../http/route-docs.js';

class ProviderFailureDto {
  @ApiTime() at!: number;
  @Described('As in the metric `provider_failures_total`.') cause!: string;
  @ApiTextOrNull('An error code.') detail!: string | null;
}

class CheckCountsDto {
  @Described('Identities that are due for a re-check.') due!: number;
  @Described('Those that are due for more than a minute.') overdue!: number;
  @ApiTimeOrNull() oldestDueAt!: number | null;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'number' },
    description: 'Re-checks that this replica has done since its start, by outcome.',
  })
  done!: Readonly<Record<string, number>>;
}

class AdminProviderDto {
  @ApiProperty() id!: string;
  @ApiProperty() displayName!: string;
  @ApiProperty({ enum: ['oidc', 'github', 'certificate'] })
  type!: 'oidc' | 'github' | 'certificate';
  @ApiProperty() isRequired!: boolean;

  @ApiTextOrNull('Why requests of this replica fail now; null = they do not, or there was none.')
  failingFor!: string | null;

  @ApiTimeOrNull() lastAnswerAt!: number | null;
  @ApiProperty({ nullable: true, type: ProviderFailureDto })
  lastFailure!: ProviderFailureDto | null;
  @ApiProperty() checks!: CheckCountsDto;
}

export class AdminProvidersDto {
  @ApiList(AdminProviderDto) providers!: readonly AdminProviderDto[];
}

class CountedAccountsDto {
  @Described('An estimate above 100000.') total!: number;
  @Described('100001 = more than 100000.') disabled!: number;
  @Described('With an identity that is refused; 100001 = more than 100000.') ineligible!: number;
}

class CountedRequestsDto {
  @Described('Open now; 100001 = more than 100000, as in the others together.') waiting!: number;
  @Described('Closed with an answer within the last hour.') answered!: number;
  @Described('Withdrawn within the last hour.') withdrawn!: number;
  @Described('Without an answer in time, within the last hour.') expired!: number;
}

export class OverviewDto {
  @ApiProperty() accounts!: CountedAccountsDto;

  @ApiProperty({
    nullable: true,
    type: CountedRequestsDto,
    description: 'Requests of programs; null = this server takes none.',
  })
  requests!: CountedRequestsDto | null;

  @Described('Whether linked identities are checked again.') isOffboardingOn!: boolean;
}
