import {
  All,
  applyDecorators,
  Body,
  Controller,
  Delete,
  Get,
  Header,
  HttpCode,
  Param,
  Patch,
  Post,
  Put,
  Query,
  Res,
} from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Public } from '../auth/route-access.js';
import { AppError } from '../../common/errors.js';
import { SCIM_TYPE } from '../http/request-rules.js';
import type { DirectoryPerson } from '../storage/repositories/directory/directory-person.repository.js';
import { SCIM_BODY_LIMIT_BYTES } from './scim-authentication.hook.js';
import {
  listOf,
  MAX_RESULTS,
  serviceProviderConfig,
  userResourceType,
  userSchema,
} from './scim-documents.js';
import { notImplemented, ScimError, scimRefusal } from './scim-error.js';
import { toResource, USER_SCHEMA, type JsonObject, type Projection } from './scim-user.js';
import { ScimUsersService } from './scim-users.service.js';

const DEFAULT_RESULTS = 100;

/** Parts of SCIM that this server does not have (RFC 7644, 3.2). */
const UNSUPPORTED = /^(?:Groups|Bulk|Me|(?:Users\/)?\.search)(?:\/|$)/i;

/** A query parameter, which a client may repeat. */
type Parameters = Readonly<Record<string, string | readonly string[] | undefined>>;

/** `scimBody` marks the routes whose callers the hook authenticates. */
const ScimRoute = (): MethodDecorator =>
  applyDecorators(
    RouteConfig({
      scimBody: true,
      bodyLimitBytes: SCIM_BODY_LIMIT_BYTES,
      refusalFormat: scimRefusal,
      // The hook counts by directory: a synchronization sends many requests from one address.
      rateLimit: false,
    }),
    Header('content-type', `${SCIM_TYPE}; charset=utf-8`),
  );

/** SCIM describes itself (RFC 7644, 4), so the document of the API leaves it out. */
@ApiExcludeController()
@Controller('v1/scim/:provider/v2')
@Public()
export class ScimController {
  constructor(private readonly users: ScimUsersService) {}

  @Get('ServiceProviderConfig')
  @ScimRoute()
  config(@Param('provider') provider: string): JsonObject {
    return serviceProviderConfig(this.users.baseOf(provider));
  }

  @Get('ResourceTypes')
  @ScimRoute()
  resourceTypes(@Param('provider') provider: string): JsonObject {
    return listOf([userResourceType(this.users.baseOf(provider))]);
  }

  @Get('ResourceTypes/:id')
  @ScimRoute()
  resourceType(@Param('provider') provider: string, @Param('id') id: string): JsonObject {
    if (id !== 'User') {
      throw new AppError('not-found');
    }
    return userResourceType(this.users.baseOf(provider));
  }

  @Get('Schemas')
  @ScimRoute()
  schemas(@Param('provider') provider: string): JsonObject {
    return listOf([userSchema(this.users.baseOf(provider))]);
  }

  @Get('Schemas/:id')
  @ScimRoute()
  schema(@Param('provider') provider: string, @Param('id') id: string): JsonObject {
    if (id !== USER_SCHEMA) {
      throw new AppError('not-found');
    }
    return userSchema(this.users.baseOf(provider));
  }

  @Get('Users')
  @ScimRoute()
  async list(@Param('provider') provider: string, @Query() query: Parameters): Promise<JsonObject> {
    const start = Math.max(numberOf(query, 'startIndex', 1), 1);
    const count = Math.min(Math.max(numberOf(query, 'count', DEFAULT_RESULTS), 0), MAX_RESULTS);
    const filter = textOf(query, 'filter');
    const { total, people } = await this.users.search(provider, filter, start - 1, count);
    const resources = people.map((person) => this.resource(provider, person, projectionOf(query)));
    return listOf(resources, total, start);
  }

  @Post('Users')
  @ScimRoute()
  @HttpCode(201)
  async create(
    @Param('provider') provider: string,
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonObject> {
    const person = await this.users.create(provider, body);
    void reply.header('location', this.addressOf(provider, person));
    return this.resource(provider, person);
  }

  @Get('Users/:id')
  @ScimRoute()
  async read(
    @Param('provider') provider: string,
    @Param('id') id: string,
    @Query() query: Parameters,
  ): Promise<JsonObject> {
    const person = await this.users.read(provider, id);
    return this.resource(provider, person, projectionOf(query));
  }

  @Put('Users/:id')
  @ScimRoute()
  async replace(
    @Param('provider') provider: string,
    @Param('id') id: string,
    @Body() body: unknown,
  ): Promise<JsonObject> {
    return this.resource(provider, await this.users.replace(provider, id, body));
  }

  @Patch('Users/:id')
  @ScimRoute()
  async patch(
    @Param('provider') provider: string,
    @Param('id') id: string,
    @Body() body: unknown,
  ): Promise<JsonObject> {
    return this.resource(provider, await this.users.patch(provider, id, body));
  }

  @Delete('Users/:id')
  @ScimRoute()
  @HttpCode(204)
  async remove(@Param('provider') provider: string, @Param('id') id: string): Promise<void> {
    await this.users.remove(provider, id);
  }

  /** Clients that also synchronize groups look for those that exist. */
  @Get('Groups')
  @ScimRoute()
  groups(): JsonObject {
    return listOf([]);
  }

  @All('*')
  @ScimRoute()
  other(@Param('*') path: string): never {
    throw UNSUPPORTED.test(path) ? notImplemented() : new AppError('not-found');
  }

  private resource(
    provider: string,
    person: DirectoryPerson,
    projection: Projection = {},
  ): JsonObject {
    return toResource(person, this.addressOf(provider, person), projection);
  }

  private addressOf(provider: string, { id }: DirectoryPerson): string {
    return `${this.users.baseOf(provider)}/Users/${id}`;
  }
}

function textOf(query: Parameters, name: string): string | undefined {
  const value = query[name];
  if (value !== undefined && typeof value !== 'string') {
    throw new ScimError('invalidValue', `${name} must be given once.`);
  }
  return value;
}

function numberOf(query: Parameters, name: string, fallback: number): number {
  const text = textOf(query, name);
  if (text === undefined) {
    return fallback;
  }
  if (!/^-?\d{1,15}$/.test(text)) {
    throw new ScimError('invalidValue', `${name} must be a whole number.`);
  }
  return Number(text);
}

function projectionOf(query: Parameters): Projection {
  return {
    attributes: textOf(query, 'attributes'),
    excludedAttributes: textOf(query, 'excludedAttributes'),
  };
}
