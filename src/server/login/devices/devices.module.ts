import { Module } from '@nestjs/common';

import { AuditModule } from '../../audit/audit.module.js';
import { AuthModule } from '../../auth/auth.module.js';
import { StorageModule } from '../../storage/storage.module.js';
import { DevicesController } from './devices.controller.js';
import { DeviceRequestsService } from './device-requests.service.js';
import { DevicesService } from './devices.service.js';

/**
 * Owns adding a device: its request, the approval and the login. Does not own sessions (auth).
 * Routes: /v2/auth/devices, …/:id and below.
 */
@Module({
  imports: [AuditModule, AuthModule, StorageModule],
  controllers: [DevicesController],
  providers: [DeviceRequestsService, DevicesService],
})
export class DevicesModule {}
