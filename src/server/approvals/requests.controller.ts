import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Param,
  Post,
  Query,
  Req,
  Res,
} from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Access } from '../auth/auth.service.js';
import { Caller } from '../auth/route-access.js';
import { IdParam } from '../http/id-param.js';
import { LargeBody } from '../http/request-rules.js';
import { Answers, Refuses, SuccessDto, Summary } from '../http/route-docs.js';
import { AnswersService } from './answers.service.js';
import {
  AnsweredRequestDto,
  CloseDto,
  NewAnswerDto,
  NewRequestDto,
  REQUEST_BODY_BYTES,
  RequestDto,
  RequestListDto,
  WaitDto,
} from './requests.dto.js';
import { RequestsService } from './requests.service.js';

@ApiTags('requests')
@Controller('v1/requests')
export class RequestsController {
  constructor(
    private readonly requests: RequestsService,
    private readonly answers: AnswersService,
  ) {}

  @Summary(
    'Asks the person: stores a request that another device of the account answers.',
    'The same content under the same id again is 200. An account has at most 100 open requests, of 4 MiB together, and a session 25, of 1 MiB.',
  )
  @Post()
  @LargeBody(REQUEST_BODY_BYTES)
  @HttpCode(201)
  @ApiCreatedResponse({ type: RequestDto })
  @ApiOkResponse({ type: RequestDto, description: 'The account has this request already.' })
  @Refuses('content-mode-mismatch', 'encrypted-writes-disabled', 'plaintext-writes-disabled')
  @Refuses('request-expired', 'request-id-used', 'too-many-open-requests')
  async ask(
    @Caller() caller: Access,
    @Body() body: NewRequestDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RequestDto> {
    const { request, isNew } = await this.requests.ask(caller, body);
    void reply.code(isNew ? 201 : 200);
    return request;
  }

  @Summary('The open requests of the account, without their content.')
  @Get()
  @Answers(RequestListDto)
  async list(@Caller() { accountId }: Access): Promise<RequestListDto> {
    return { requests: await this.requests.list(accountId) };
  }

  @Summary(
    'One request with its answers. With `waitSeconds`, waits for one.',
    'At most ten waits a session. A wait ends with its session, and early when the server stops: ask again.',
  )
  @Get(':id')
  @Answers(AnsweredRequestDto)
  @Refuses('not-found')
  read(
    @Caller() caller: Access,
    @Param('id') id: string,
    @Query() { waitSeconds }: WaitDto,
    @Req() { signal }: FastifyRequest,
  ): Promise<AnsweredRequestDto> {
    return waitSeconds === undefined
      ? this.requests.read(caller, id)
      : this.requests.wait(caller, id, waitSeconds * 1000, signal);
  }

  @Summary(
    'Answers a request. The first answer of each session counts, of at most five.',
    'The same answer again is accepted. A session that holds no key can only deny, and an account without keys as well.',
  )
  @Post(':id/answer')
  @LargeBody(REQUEST_BODY_BYTES)
  @Answers(SuccessDto)
  @Refuses('content-mode-mismatch', 'encrypted-writes-disabled', 'not-found')
  @Refuses('already-answered', 'request-expired')
  async answer(
    @Caller() caller: Access,
    @Param('id') id: string,
    @Body() body: NewAnswerDto,
  ): Promise<SuccessDto> {
    await this.answers.answer(caller, id, body);
    return { success: true };
  }

  @Summary(
    'Rejects an answer that does not verify, so that there is room for another one.',
    'For the session that asked. The session of the answer has had its turn.',
  )
  @Delete(':id/answers/:sessionId')
  @Answers(SuccessDto)
  @Refuses('not-found')
  async reject(
    @Caller() caller: Access,
    @Param('id') id: string,
    @IdParam('sessionId') sessionId: string,
  ): Promise<SuccessDto> {
    await this.answers.reject(caller, id, sessionId);
    return { success: true };
  }

  @Summary(
    'Closes a request with the answer that was taken, or withdraws it.',
    'For the session that asked. Returns the answers, also those that arrived meanwhile; the first close counts.',
  )
  @Delete(':id')
  @Answers(AnsweredRequestDto)
  @Refuses('not-found')
  close(
    @Caller() caller: Access,
    @Param('id') id: string,
    @Query() { answeredBy }: CloseDto,
  ): Promise<AnsweredRequestDto> {
    return this.answers.close(caller, id, answeredBy ?? null);
  }
}
