import { Body, Controller, Get, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Answers, Summary } from '../../http/route-docs.js';
import { AdminPlanService } from './admin-plan.service.js';
import {
  AdminPolicyDto,
  PlanDto,
  PlanRequestDto,
  PresentVariablesDto,
} from './admin-policy.dto.js';
import { AdminPolicyService } from './admin-policy.service.js';
import { presentVariables } from './present-variables.js';

@ApiTags('policy')
@Controller('admin/v1/policy')
export class AdminPolicyController {
  constructor(
    private readonly policy: AdminPolicyService,
    private readonly plans: AdminPlanService,
  ) {}

  @Summary('The policy of this server in sentences, and findings about it and about what expires.')
  @Get()
  @Answers(AdminPolicyDto)
  describe(): AdminPolicyDto {
    return this.policy.describe();
  }

  @Summary(
    'The variables that a plan may change, with their present values.',
    'Without secrets and names of files. Providers of a file are given as text.',
  )
  @Get('variables')
  @Answers(PresentVariablesDto)
  variables(): PresentVariablesDto {
    return { variables: presentVariables() };
  }

  @Summary(
    'Counts the accounts that would lose or get access under changed variables.',
    'Changes nothing. Of many accounts a random sample is judged.',
  )
  @Post('plan')
  @Answers(PlanDto)
  plan(@Body() { environment }: PlanRequestDto): Promise<PlanDto> {
    return this.plans.plan(environment);
  }
}
