import { Module } from '@nestjs/common';
import { CertificateLoginModule } from './certificate/certificate-login.module.js';
import { DeviceKeyModule } from './device-key/device-key.module.js';
import { DevicesModule } from './devices/devices.module.js';
import { LoginOutcomesModule } from './login-outcomes.module.js';
import { ProviderLoginModule } from './provider/provider-login.module.js';

/** Owns the ways to sign in, one module each, and the counts of their outcomes. */
@Module({
  imports: [
    CertificateLoginModule,
    DeviceKeyModule,
    DevicesModule,
    LoginOutcomesModule,
    ProviderLoginModule,
  ],
})
export class LoginModule {}
