import { Inject, Injectable } from '@nestjs/common';
import { orRefuse } from '../../common/errors.js';
import {
  judgeProgram,
  type ConfiguredProgram,
  type ProgramRules,
} from '../../core/policy/programs/programs.js';
import { httpConfig, type HttpSettings } from '../config/http.config.js';
import type { ResourceServerSettings } from '../config/resource-servers/resource-servers-file.js';
import {
  programClientsConfig,
  resourceServersConfig,
} from '../config/resource-servers/resource-servers.config.js';
import type { GrantedTo } from '../storage/repositories/programs/program-grant.repository.js';

export interface ProgramServer {
  readonly server: ResourceServerSettings;
  readonly programs: ProgramRules;
}

/** The backends that accept programs. */
@Injectable()
export class ProgramServersService {
  readonly issuer: string;
  readonly all: readonly ProgramServer[];

  constructor(
    @Inject(resourceServersConfig.KEY) servers: readonly ResourceServerSettings[],
    @Inject(programClientsConfig.KEY) private readonly configured: readonly ConfiguredProgram[],
    @Inject(httpConfig.KEY) http: HttpSettings,
  ) {
    this.issuer = http.publicUrl ?? '';
    this.all = servers.flatMap((server) =>
      server.programs === null ? [] : [{ server, programs: server.programs }],
    );
  }

  /** @throws AppError `invalid-target` where the configuration does not have it any more */
  find(id: string): ProgramServer {
    return orRefuse(
      this.all.find(({ server }) => server.id === id),
      'invalid-target',
    );
  }

  accepts({ resourceServer, clientId }: GrantedTo): boolean {
    const { programs } = this.all.find(({ server }) => server.id === resourceServer) ?? {};
    return programs !== undefined && judgeProgram(clientId, programs, this.configured) !== null;
  }
}
