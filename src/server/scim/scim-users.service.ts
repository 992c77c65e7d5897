import { Inject, Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../common/runtime/clock.js';
import { orRefuse } from '../../common/errors.js';
import { httpConfig, type HttpSettings } from '../config/http.config.js';
import type { DirectoryRules } from '../../core/policy/eligibility/provider-rules.js';
import { DatabaseService, type Transaction } from '../storage/database.service.js';
import type { PersonChange } from '../storage/repositories/directory/directory-names.js';
import {
  DirectoryPersonRepository,
  UserNameTakenError,
  type DirectoryPerson,
  type PersonPage,
} from '../storage/repositories/directory/directory-person.repository.js';
import { DirectoriesService } from './directories.service.js';
import { DirectoryChangesService } from './directory-changes.service.js';
import { ScimError } from './scim-error.js';
import { conditionsOf } from './scim-filter.js';
import { patchUser } from './scim-patch.js';
import { readUser, type ReadPerson } from './scim-user.js';

/** A line of the log names so many. */
const MOST_PROBLEMS = 10;

/** The people that a directory reports, and the effect of each request on their access. */
@Injectable()
export class ScimUsersService {
  private readonly logger = new Logger('Directory');

  constructor(
    private readonly database: DatabaseService,
    private readonly people: DirectoryPersonRepository,
    private readonly changes: DirectoryChangesService,
    private readonly directories: DirectoriesService,
    private readonly clock: Clock,
    @Inject(httpConfig.KEY) private readonly http: HttpSettings,
  ) {}

  /** The address of a directory's endpoint. */
  baseOf(provider: string): string {
    return `${this.http.publicUrl ?? ''}/v1/scim/${provider}/v2`;
  }

  async create(provider: string, body: unknown): Promise<DirectoryPerson> {
    const { person: given, problems } = readUser(body, null);
    const rules = this.rulesOf(provider);
    const now = new Date(this.clock.now());
    const { person, effect } = await this.database.transaction(async (tx) => {
      const after = await this.people.insert(tx, provider, given, now);
      if (after === null) {
        throw nameIsTaken();
      }
      const applied = await this.apply(tx, rules, { before: null, after, now });
      return { person: after, ...applied };
    });
    this.report(provider, person.id, problems);
    if (effect !== null) {
      this.changes.announce(effect);
    }
    return person;
  }

  async read(provider: string, id: string): Promise<DirectoryPerson> {
    const { people } = await this.people.search(provider, [{ attribute: 'id', value: id }], 0, 1);
    return orRefuse(people[0], 'not-found');
  }

  /** @param filter absent = all people */
  search(
    provider: string,
    filter: string | undefined,
    offset: number,
    limit: number,
  ): Promise<PersonPage> {
    const conditions = filter === undefined ? [] : conditionsOf(filter);
    return this.people.search(provider, conditions, offset, limit);
  }

  replace(provider: string, id: string, body: unknown): Promise<DirectoryPerson> {
    return this.change(provider, id, (person) => readUser(body, person));
  }

  patch(provider: string, id: string, body: unknown): Promise<DirectoryPerson> {
    return this.change(provider, id, (person) => patchUser(person, body));
  }

  /** Ends the access of the person; the no outlives the person. */
  async remove(provider: string, id: string): Promise<void> {
    const rules = this.rulesOf(provider);
    const now = new Date(this.clock.now());
    const effect = await this.database.transaction(async (tx) => {
      const before = orRefuse(await this.people.lock(tx, provider, id), 'not-found');
      const applied = await this.changes.apply(tx, rules, { before, after: null, now });
      if (applied.isKnown) {
        await this.people.remove(tx, before);
      } else {
        await this.people.keepDeleted(tx, before, rules.match === 'email', now);
      }
      return applied.effect;
    });
    if (effect !== null) {
      this.changes.announce(effect);
    }
  }

  private async change(
    provider: string,
    id: string,
    changed: (person: DirectoryPerson) => ReadPerson,
  ): Promise<DirectoryPerson> {
    const { after, effect, problems, withdrawn } = await this.store(provider, id, changed).catch(
      (error: unknown) => {
        if (!(error instanceof UserNameTakenError)) {
          throw error;
        }
        // A person's end is not lost to the name, which the person keeps.
        return this.store(provider, id, (person) => {
          const read = changed(person);
          if (!read.isEnd) {
            throw nameIsTaken();
          }
          const { userName } = person;
          const problems = [...read.problems, nameIsTaken().detail];
          return { ...read, person: { ...read.person, userName }, problems };
        });
      },
    );
    this.report(provider, id, problems);
    if (effect !== null) {
      this.changes.announce(effect);
    }
    if (withdrawn !== null) {
      this.changes.announceWithdrawn(withdrawn);
    }
    return after;
  }

  private store(provider: string, id: string, changed: (person: DirectoryPerson) => ReadPerson) {
    const rules = this.rulesOf(provider);
    const now = new Date(this.clock.now());
    return this.database.transaction(async (tx) => {
      const before = orRefuse(await this.people.lock(tx, provider, id), 'not-found');
      const { person, problems } = changed(before);
      const after = await this.people.update(tx, before, person, now);
      const applied = await this.apply(tx, rules, { before, after, now });
      return { after, problems, ...applied };
    });
  }

  private async apply(
    tx: Transaction,
    rules: DirectoryRules,
    change: PersonChange & { readonly after: DirectoryPerson; readonly now: Date },
  ) {
    const isFirst = await this.people.noteActive(tx, change.after, change.now);
    const applied = await this.changes.apply(tx, rules, change);
    if (isFirst && rules.required) {
      await this.people.judgeAllAgain(tx, change.after.provider);
    }
    return applied;
  }

  /** A deactivation may have attributes that cannot be used: the directory is answered as if it had none. */
  private report(provider: string, person: string, problems: readonly string[]): void {
    if (problems.length > 0) {
      const msg = 'deactivation with attributes that cannot be used';
      this.logger.warn({ msg, provider, person, problems: problems.slice(0, MOST_PROBLEMS) });
    }
  }

  private rulesOf(provider: string): DirectoryRules {
    return orRefuse(this.directories.settingsOf(provider), 'not-found');
  }
}

function nameIsTaken(): ScimError {
  return new ScimError('uniqueness', 'Another person of this directory has the userName.');
}
