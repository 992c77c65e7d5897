import { Module } from '@nestjs/common';
import { DevicesController } from './devices.controller.js';
import { DevicesService } from './devices.service.js';

/**
 * Owns adding a device to an account: its request, the approval and the login that follows. Does not
 * own sessions (auth). Routes: /v2/auth/devices, …/:id and below.
 */
@Module({ controllers: [DevicesController], providers: [DevicesService] })
export class DevicesModule {}
