import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { LiveConnectionsService } from './live-connections.service.js';

/** Owns the registry of live connections, with which features send updates. Routes: none. */
@Module({
  imports: [AuthModule],
  providers: [LiveConnectionsService],
  exports: [LiveConnectionsService],
})
export class LiveConnectionsModule {}
