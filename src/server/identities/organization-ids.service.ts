import { Injectable, type OnModuleInit } from '@nestjs/common';
import { orRefuse } from '../../common/errors.js';
import { Clock } from '../../common/runtime/clock.js';
import type { OrganizationIds } from '../providers/github/organization-ids.js';
import { ProviderRegistry } from '../providers/provider.registry.js';
import { OrganizationRepository } from '../storage/repositories/directory/organization.repository.js';

/** Keeps the ids of organisations, so that no restart forgets which one a name meant. */
@Injectable()
export class OrganizationIdsService implements OnModuleInit {
  constructor(
    private readonly providers: ProviderRegistry,
    private readonly organizations: OrganizationRepository,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.providers.keepOrganizationIds((provider) => this.idsOf(provider));
  }

  private idsOf(provider: string): OrganizationIds {
    const { issuer } = orRefuse(this.providers.authority(provider), 'unsupported-provider');
    return {
      find: (name) => this.organizations.find({ provider, issuer, name }),
      keep: (name, id) =>
        this.organizations.keep({ provider, issuer, name }, id, new Date(this.clock.now())),
    };
  }
}
