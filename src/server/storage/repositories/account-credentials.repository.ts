import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Content } from '../../../core/protocol/content.js';
import { DatabaseService, type Transaction } from '../database.service.js';
import { AccountCredentialEntity } from '../entities/account-credential.entity.js';
import { ContentAtRestService } from '../sealing/content-at-rest.service.js';
import { lockAccount, nextUpdateSeq } from '../account-row.js';

export interface AccountCredential {
  readonly service: string;
  readonly content: Content;
  readonly updatedAt: number;
}

@Injectable()
export class AccountCredentialsRepository {
  constructor(
    private readonly database: DatabaseService,
    private readonly atRest: ContentAtRestService,
    @InjectRepository(AccountCredentialEntity)
    private readonly credentials: Repository<AccountCredentialEntity>,
  ) {}

  /** @throws BrokenSealError */
  async list(accountId: string): Promise<AccountCredential[]> {
    const found = await this.credentials.findBy({ accountId });
    return found
      .map((credential) => this.toCredential(credential))
      .sort((one, other) => (one.service < other.service ? -1 : 1));
  }

  /** @throws BrokenSealError */
  async find(accountId: string, service: string): Promise<AccountCredential | null> {
    const found = await this.credentials.findOneBy({ accountId, service });
    return found && this.toCredential(found);
  }

  /** @returns the time of the last write of each service, in Unix milliseconds */
  async writtenAt({ manager }: Transaction, accountId: string): Promise<Map<string, number>> {
    const select = { accountId: true, service: true, updatedAt: true } as const;
    const found = await manager.find(AccountCredentialEntity, { select, where: { accountId } });
    return new Map(found.map(({ service, updatedAt }) => [service, updatedAt.getTime()]));
  }

  async useBeside(tx: Transaction, accountId: string, service: string) {
    const [row] = await tx.query<{ count: number; bytes: number }>(
      `SELECT count(*)::int AS "count", COALESCE(sum(octet_length("content")), 0)::int AS "bytes"
       FROM "account_credential" WHERE "account_id" = $1 AND "service" <> $2`,
      [accountId, service],
    );
    return row ?? { count: 0, bytes: 0 };
  }

  /**
   * Stores or replaces the credential of a service. The caller has locked the account. Each write has a
   * later time than the one before, whatever the clock says. As SQL: TypeORM's upsert takes twice the
   * CPU time (`npm run bench -- --only settings`), and cannot compare with what is stored.
   */
  async put(
    tx: Transaction,
    accountId: string,
    service: string,
    content: Content,
    updatedAt: Date,
  ): Promise<void> {
    const { form, bytes } = this.atRest.store('account-credentials', content, accountId, service);
    await tx.query(
      `INSERT INTO "account_credential" ("account_id", "service", "form", "content", "updated_at")
       VALUES ($1, $2, $3, $4, $5) ON CONFLICT ("account_id", "service") DO UPDATE
       SET "form" = EXCLUDED."form", "content" = EXCLUDED."content",
         "updated_at" = GREATEST(EXCLUDED."updated_at",
           "account_credential"."updated_at" + interval '1 ms')`,
      [accountId, service, form, bytes, updatedAt],
    );
  }

  /** @returns the `seq` of the update to send; null when the credential did not exist */
  remove(accountId: string, service: string): Promise<number | null> {
    return this.database.transaction(async (tx) => {
      await lockAccount(tx, accountId);
      const { affected } = await tx.manager.delete(AccountCredentialEntity, {
        accountId,
        service,
      });
      return affected === 0 ? null : nextUpdateSeq(tx, accountId);
    });
  }

  private toCredential(credential: AccountCredentialEntity): AccountCredential {
    const { accountId, service, form, content: bytes, updatedAt } = credential;
    const content = this.atRest.read('account-credentials', { form, bytes }, accountId, service);
    return { service, content, updatedAt: updatedAt.getTime() };
  }
}
