import { Inject, Injectable } from '@nestjs/common';
import * as v from 'valibot';
import { orRefuse } from '../../../common/errors.js';
import type { ScimSettings } from '../../config/providers-file/provider-settings.js';
import { providersConfig, type ConfiguredProviders } from '../../config/providers.config.js';
import { DirectoryCountsService } from '../../identities/directory-counts.service.js';
import {
  DirectoryPersonRepository,
  type DirectoryCounts,
} from '../../storage/repositories/directory/directory-person.repository.js';
import { ProviderSignalRepository } from '../../storage/repositories/signals/provider-signal.repository.js';
import {
  SignalStreamRepository,
  type SignalStream,
} from '../../storage/repositories/signals/signal-stream.repository.js';
import { readCursor, writeCursor } from '../page-cursor.js';
import type { AdminSignalsDto, UnmatchedPageDto } from './admin-signals.dto.js';
import type { PageQueryDto } from '../page.dto.js';

type Provider = ConfiguredProviders[number];
type Reported = AdminSignalsDto['providers'][number];

const POSITION = v.object({ id: v.pipe(v.string(), v.uuid()) });

/** Shows the last signals of providers, their streams and their directories. */
@Injectable()
export class AdminSignalsService {
  constructor(
    private readonly received: ProviderSignalRepository,
    private readonly streams: SignalStreamRepository,
    private readonly counts: DirectoryCountsService,
    private readonly people: DirectoryPersonRepository,
    @Inject(providersConfig.KEY) private readonly configured: ConfiguredProviders,
  ) {}

  async list(): Promise<AdminSignalsDto> {
    const [received, streams, counts] = await Promise.all([
      this.received.all(),
      this.streams.all(),
      this.counts.all(),
    ]);
    const providers = this.configured.flatMap((provider) => {
      const { id } = provider;
      const last = received
        .filter((signal) => signal.provider === id)
        .map(({ kind, receivedAt }) => ({ kind, at: receivedAt.getTime() }))
        .sort((a, b) => b.at - a.at);
      const stream = streamOf(provider, streams);
      const directory = directoryOf(scimOf(provider), counts.get(id));
      return canReport(provider) || last.length > 0
        ? [{ id, received: last, stream, directory }]
        : [];
    });
    return { providers };
  }

  /** @throws AppError `not-found` without a directory, `invalid-request` for an invalid cursor */
  async unmatched(id: string, { cursor, limit }: PageQueryDto): Promise<UnmatchedPageDto> {
    const provider = this.configured.find((one) => one.id === id);
    const scim = orRefuse(provider === undefined ? null : scimOf(provider), 'not-found');
    const after = readCursor(cursor, POSITION)?.id ?? null;
    const { people, next } = await this.people.unmatched(id, scim.match, after, limit);
    return { people, cursor: writeCursor(next === null ? null : { id: next }) };
  }
}

function scimOf(provider: Provider): ScimSettings | null {
  return provider.type === 'oidc' ? provider.scim : null;
}

function canReport(provider: Provider): boolean {
  return (
    provider.type === 'oidc' &&
    [provider.scim, provider.sharedSignals, provider.globalTokenRevocation].some(
      (section) => section !== null,
    )
  );
}

function streamOf(provider: Provider, streams: readonly SignalStream[]): Reported['stream'] {
  const settings = provider.type === 'oidc' ? provider.sharedSignals : null;
  if (settings === null) {
    return null;
  }
  const { transmitter, delivery } = settings;
  const found = streams.find(
    (one) => one.provider === provider.id && one.transmitter === transmitter,
  );
  const { status = null, reason = null, failure = null, seenAt, verifiedAt } = found ?? {};
  return {
    transmitter,
    delivery,
    status,
    reason,
    failure,
    seenAt: seenAt?.getTime() ?? null,
    verifiedAt: verifiedAt?.getTime() ?? null,
  };
}

function directoryOf(
  settings: ScimSettings | null,
  counts: DirectoryCounts | undefined,
): Reported['directory'] {
  if (settings === null || counts === undefined) {
    return null;
  }
  const { people, active, linked: matched, ambiguous, recentlyDeactivated } = counts;
  return {
    people,
    active,
    matched,
    unmatched: people - matched,
    ambiguous,
    recentlyDeactivated,
    isRequired: settings.required,
  };
}
