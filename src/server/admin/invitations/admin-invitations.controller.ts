import { Body, Controller, Delete, Get, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { IdParam } from '../../http/id-param.js';
import { Answers, Summary } from '../../http/route-docs.js';
import { Admin, Operates, originOf, type AdminOrigin } from '../access/admin-caller.js';
import { ActAnswerDto, Acts, ReasonDto } from '../accounts/admin-accounts.dto.js';
import {
  CreatedInvitationDto,
  InvitationPageDto,
  NewInvitationDto,
} from './admin-invitations.dto.js';
import { PageQueryDto } from '../page.dto.js';
import { AdminInvitationsService } from './admin-invitations.service.js';

@ApiTags('invitations')
@Controller('admin/v1/invitations')
export class AdminInvitationsController {
  constructor(private readonly invitations: AdminInvitationsService) {}

  @Summary(
    'Makes an invitation.',
    'New device keys sign up with it where AUTH_SIGNUP_INVITATIONS_ENABLED is on.',
  )
  @Post()
  @Operates()
  @Answers(CreatedInvitationDto)
  create(
    @Admin() caller: AdminOrigin,
    @Body() body: NewInvitationDto,
  ): Promise<CreatedInvitationDto> {
    return this.invitations.create(body, caller);
  }

  @Summary('Invitations, page by page.')
  @Get()
  @Answers(InvitationPageDto)
  page(@Query() query: PageQueryDto): Promise<InvitationPageDto> {
    return this.invitations.page(query);
  }

  @Summary('Revokes an invitation; the accounts it made stay.')
  @Delete(':id')
  @Acts()
  revoke(
    @Admin() caller: AdminOrigin,
    @IdParam() id: string,
    @Body() { reason }: ReasonDto,
  ): Promise<ActAnswerDto> {
    return this.invitations.revoke(id, originOf(caller, reason));
  }
}
