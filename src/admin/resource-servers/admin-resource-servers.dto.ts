import { ApiProperty } from '@nestjs/swagger';

class RequestCountsDto {
  @ApiProperty({ enum: ['exchange', 'introspection', 'forward_auth', 'token'] }) request!: string;
  @ApiProperty({ enum: ['ok', 'inactive', 'refused', 'failed'] }) outcome!: string;
  @ApiProperty({ description: 'An error code; empty without a refusal.' }) reason!: string;
  @ApiProperty() count!: number;
}

class AdminResourceServerDto {
  @ApiProperty() id!: string;
  @ApiProperty() name!: string;
  @ApiProperty({ description: 'The address, which is the audience of the tokens.' })
  resource!: string;

  @ApiProperty({ type: [String], description: 'Required in addition to those of the server.' })
  requireProviders!: readonly string[];

  @ApiProperty({ description: 'Whether it admits accounts without a device key.' })
  allowKeyless!: boolean;

  @ApiProperty({ type: [String] }) claims!: readonly string[];
  @ApiProperty() maxTokenSeconds!: number;
  @ApiProperty({ enum: ['ES256', 'RS256'] }) tokenAlg!: string;

  @ApiProperty({
    type: [RequestCountsDto],
    description: 'Requests to this replica since its start, as in the metric.',
  })
  requests!: readonly RequestCountsDto[];
}

class AdminSigningKeyDto {
  @ApiProperty() kid!: string;
  @ApiProperty() alg!: string;
  @ApiProperty({ description: 'Unix milliseconds.' }) signsFrom!: number;
}

export class AdminResourceServersDto {
  @ApiProperty({ type: [AdminResourceServerDto] })
  resourceServers!: readonly AdminResourceServerDto[];

  @ApiProperty({ type: [AdminSigningKeyDto], description: 'Those that sign now or later, last.' })
  keys!: readonly AdminSigningKeyDto[];
}
