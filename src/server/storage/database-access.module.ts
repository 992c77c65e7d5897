import { Module } from '@nestjs/common';
import { DatabaseAccessService } from './database-access.service.js';

/** Owns the address of the database, which StorageModule and TypeORM's module need. Routes: none. */
@Module({ providers: [DatabaseAccessService], exports: [DatabaseAccessService] })
export class DatabaseAccessModule {}
