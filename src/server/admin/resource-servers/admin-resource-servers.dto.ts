import { ApiProperty } from '@nestjs/swagger';
import { ApiList, ApiTextOrNull, ApiTime, Described } from '../../http/route-docs.js';

class RequestCountsDto {
  @ApiProperty({ enum: ['exchange', 'introspection', 'forward_auth', 'token'] }) request!: string;
  @ApiProperty({ enum: ['ok', 'inactive', 'refused', 'failed'] }) outcome!: string;
  @Described('An error code; empty without a refusal.') reason!: string;
  @ApiProperty() count!: number;
}

export class EventStreamStateDto {
  @ApiProperty() id!: string;
  @ApiTextOrNull('Given by the backend.') description!: string | null;

  @ApiTime() createdAt!: number;
  @Described('The last poll, Unix milliseconds.') polledAt!: number;
  @Described('No poll came for 30 seconds.') isPaused!: boolean;
  @Described('Events that it has not acknowledged, counted up to 1000.') waiting!: number;
  @Described('Age of the oldest of these events; 0 = none waits.') oldestWaitingSeconds!: number;
}

class AdminResourceServerDto {
  @ApiProperty() id!: string;
  @ApiProperty() name!: string;
  @Described('The address, which is the audience of the tokens.') resource!: string;

  @ApiList(String, 'Required in addition to those of the server.')
  requireProviders!: readonly string[];

  @Described('Whether it admits accounts without a device key.') allowKeyless!: boolean;
  @ApiList(String) claims!: readonly string[];
  @ApiProperty() maxTokenSeconds!: number;
  @ApiProperty({ enum: ['ES256', 'RS256'] }) tokenAlg!: string;

  @ApiList(RequestCountsDto, 'Requests to this replica since its start, as in the metric.')
  requests!: readonly RequestCountsDto[];

  @ApiList(EventStreamStateDto, 'Streams of events about ended sessions, the oldest first.')
  streams!: readonly EventStreamStateDto[];
}

class AdminSigningKeyDto {
  @ApiProperty() kid!: string;
  @ApiProperty() alg!: string;
  @ApiTime() signsFrom!: number;
}

export class AdminResourceServersDto {
  @ApiList(AdminResourceServerDto) resourceServers!: readonly AdminResourceServerDto[];

  @ApiList(AdminSigningKeyDto, 'Those that sign now or later, last.')
  keys!: readonly AdminSigningKeyDto[];
}
