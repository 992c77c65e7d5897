import { ApiProperty } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { OptionalField } from '../../http/text-field.js';
import { ApiList, Described } from '../../http/route-docs.js';

const LOGIN_PERIODS = ['day', 'week'] as const;

export type LoginPeriod = (typeof LOGIN_PERIODS)[number];

export class LoginCountsQueryDto {
  @OptionalField({ enum: LOGIN_PERIODS, default: 'day' })
  @IsIn(LOGIN_PERIODS)
  period: LoginPeriod = 'day';
}

class LoginBucketDto {
  @Described('Its first moment, Unix milliseconds.') at!: number;
  @ApiProperty() logins!: number;
  @Described('Logins that were refused.') refusals!: number;
}

export class LoginCountsDto {
  @Described('Length of a bucket, in milliseconds.') bucketMs!: number;

  @ApiList(LoginBucketDto, 'Oldest first; the last one has not ended.')
  buckets!: readonly LoginBucketDto[];
}
