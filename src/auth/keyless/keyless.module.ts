import { Module } from '@nestjs/common';
import { LinkEffects } from '../external/link-effects.js';
import { KeylessLogin } from './keyless-login.service.js';

/**
 * Owns logging in to accounts without device keys, whatever names the person. Does not own who
 * names them: providers (external) and certificates (mtls) do, and import this.
 */
@Module({
  providers: [KeylessLogin, LinkEffects],
  exports: [KeylessLogin, LinkEffects],
})
export class KeylessModule {}
