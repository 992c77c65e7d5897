import { Controller, Get } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiProperty, ApiTags } from '@nestjs/swagger';
import { Public } from '../auth/route-access.js';
import { AppError, type DependencyState } from '../../common/errors.js';
import { Answers, Refuses, Summary } from '../http/route-docs.js';
import { HealthService } from './health.service.js';

class LivenessDto {
  @ApiProperty({ enum: ['alive'] }) status!: 'alive';
}

class ReadinessDto {
  @ApiProperty({ enum: ['ready'] }) status!: 'ready';

  @ApiProperty({ type: 'object', additionalProperties: { type: 'string' } })
  dependencies!: Readonly<Record<string, DependencyState>>;
}

@ApiTags('operations')
@Controller()
@Public()
export class HealthController {
  constructor(private readonly health: HealthService) {}

  @Summary('The process answers.', 'Says nothing about its dependencies.')
  @Get('livez')
  @RouteConfig({ rateLimit: false })
  @Answers(LivenessDto)
  live(): LivenessDto {
    return { status: 'alive' };
  }

  @Summary('Whether this process should get requests, per dependency.')
  @Get('readyz')
  @RouteConfig({ rateLimit: false })
  @Answers(ReadinessDto)
  @Refuses('unavailable')
  async ready(): Promise<ReadinessDto> {
    const { isReady, dependencies } = await this.health.readiness();
    if (!isReady) {
      throw new AppError('unavailable', { dependencies, retryAfterSeconds: 1 });
    }
    return { status: 'ready', dependencies };
  }
}
