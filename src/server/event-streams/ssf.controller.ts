import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Inject,
  Param,
  Post,
  Query,
} from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiCreatedResponse, ApiQuery, ApiTags } from '@nestjs/swagger';
import { Public } from '../auth/route-access.js';
import { Answers, Refuses, Summary } from '../http/route-docs.js';
import { httpConfig, type HttpSettings } from '../config/http.config.js';
import type { ResourceServerSettings } from '../config/resource-servers/resource-servers-file.js';
import { EventDeliveryService } from './event-delivery.service.js';
import { EventStreamsService } from './event-streams.service.js';
import {
  EventsDto,
  NewStatusDto,
  NewStreamDto,
  POLL_DELIVERY,
  PollDto,
  StreamDto,
  StreamStatusDto,
  TransmitterDto,
  VerificationDto,
} from './ssf.dto.js';
import { Backend, NeedsScope } from './ssf.guard.js';

@ApiTags('resource servers')
@Controller()
@Public()
export class SsfController {
  constructor(
    private readonly streams: EventStreamsService,
    private readonly delivery: EventDeliveryService,
    @Inject(httpConfig.KEY) private readonly http: HttpSettings,
  ) {}

  @Summary('The metadata of this transmitter of security events (SSF 1.0).')
  @Get('.well-known/ssf-configuration')
  @RouteConfig({ rateLimit: false })
  @Answers(TransmitterDto)
  metadata(): TransmitterDto {
    const issuer = this.http.publicUrl ?? '';
    return {
      spec_version: '1_0',
      issuer,
      jwks_uri: `${issuer}/v1/oauth/jwks`,
      delivery_methods_supported: [POLL_DELIVERY],
      configuration_endpoint: `${issuer}/v1/ssf/streams`,
      status_endpoint: `${issuer}/v1/ssf/status`,
      verification_endpoint: `${issuer}/v1/ssf/verification`,
      critical_subject_members: ['session'],
      authorization_schemes: [{ spec_urn: 'urn:ietf:rfc:6749' }],
      default_subjects: 'ALL',
    };
  }

  @Summary('Creates a stream of security events, one for each instance.')
  @Post('v1/ssf/streams')
  @NeedsScope('ssf.manage')
  @HttpCode(201)
  @ApiCreatedResponse({ type: StreamDto })
  @Refuses('too-many-streams')
  create(
    @Backend() backend: ResourceServerSettings,
    @Body() stream: NewStreamDto,
  ): Promise<StreamDto> {
    return this.streams.create(backend, stream);
  }

  @Summary('The configuration of one stream, or of every stream of the backend.')
  @ApiQuery({ name: 'stream_id', required: false })
  @Get('v1/ssf/streams')
  @NeedsScope('ssf.read')
  @Answers(StreamDto)
  @Refuses('not-found')
  read(
    @Backend() backend: ResourceServerSettings,
    @Query('stream_id') id: unknown,
  ): Promise<StreamDto | StreamDto[]> {
    return id === undefined ? this.streams.list(backend) : this.streams.read(backend, id);
  }

  @Summary('Deletes a stream.')
  @ApiQuery({ name: 'stream_id' })
  @Delete('v1/ssf/streams')
  @HttpCode(204)
  @NeedsScope('ssf.manage')
  @Refuses('not-found')
  remove(
    @Backend() backend: ResourceServerSettings,
    @Query('stream_id') id: unknown,
  ): Promise<void> {
    return this.streams.remove(backend, id);
  }

  @Summary('The status of a stream.')
  @ApiQuery({ name: 'stream_id' })
  @Get('v1/ssf/status')
  @NeedsScope('ssf.read')
  @Answers(StreamStatusDto)
  @Refuses('not-found')
  status(
    @Backend() backend: ResourceServerSettings,
    @Query('stream_id') id: unknown,
  ): Promise<StreamStatusDto> {
    return this.streams.status(backend, id);
  }

  @Summary('Confirms that a stream is enabled, which it always is.')
  @Post('v1/ssf/status')
  @NeedsScope('ssf.manage')
  @Answers(StreamStatusDto)
  @Refuses('not-found')
  setStatus(
    @Backend() backend: ResourceServerSettings,
    @Body() { stream_id: id }: NewStatusDto,
  ): Promise<StreamStatusDto> {
    return this.streams.status(backend, id);
  }

  @Summary('Sends an event to a stream, which shows that it works.')
  @Post('v1/ssf/verification')
  @HttpCode(204)
  @NeedsScope('ssf.manage')
  @Refuses('not-found')
  verify(
    @Backend() backend: ResourceServerSettings,
    @Body() { stream_id: id, state }: VerificationDto,
  ): Promise<void> {
    return this.streams.verify(backend, id, state ?? null);
  }

  @Summary(
    'Acknowledges and delivers events of a stream (RFC 8936).',
    'Events are delivered until they are acknowledged. 404 means that events may have been lost: create another stream, and drop what earlier events do not cover.',
  )
  @Post('v1/ssf/streams/:id/poll')
  @NeedsScope('ssf.read')
  @Answers(EventsDto)
  @Refuses('not-found')
  poll(
    @Backend() backend: ResourceServerSettings,
    @Param('id') id: string,
    @Body() poll: PollDto,
  ): Promise<EventsDto> {
    return this.delivery.poll(backend, id, poll);
  }
}
