import { createHmac, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../../common/runtime/clock.js';
import { AppError } from '../../../common/errors.js';
import { isNestedTooDeep, parseJson } from '../../../common/parse-json.js';
import { readSecretValue } from '../../config/read-environment.js';
import { SecretFile } from '../../config/environment/secret-file.js';
import { providersConfig, type ConfiguredProviders } from '../../config/providers.config.js';
import { removedUserIn } from '../../../core/policy/eligibility/offboarding.js';
import { ProviderSignalRepository } from '../../storage/repositories/signals/provider-signal.repository.js';
import { RecheckSignalsService } from './recheck-signals.service.js';

const SIGNATURE = /^sha256=([0-9a-f]{64})$/;

/** GitHub's organisation webhook. A repeated delivery only costs a second re-check. */
@Injectable()
export class GitHubWebhookService {
  private readonly secret: SecretFile<string | null>;

  constructor(
    private readonly signals: RecheckSignalsService,
    private readonly received: ProviderSignalRepository,
    private readonly clock: Clock,
    @Inject(providersConfig.KEY) config: ConfiguredProviders,
  ) {
    const github = config.find((one) => one.type === 'github');
    const { webhookSecret = null, webhookSecretFile = null } = github ?? {};
    this.secret = new SecretFile(clock, webhookSecret, webhookSecretFile, (text) =>
      readSecretValue('AUTH_GITHUB_WEBHOOK_SECRET', text),
    );
  }

  /**
   * @param body unparsed, because the signature covers its bytes
   * @throws AppError `not-found` where the webhook is disabled, `invalid-signature`,
   * `invalid-request`
   */
  async receive(event: string, signature: string, body: string): Promise<void> {
    const secret = await this.secret.current();
    if (secret === null || !this.signals.isOn) {
      throw new AppError('not-found');
    }
    const given = SIGNATURE.exec(signature)?.[1];
    const expected = createHmac('sha256', secret).update(body).digest();
    if (given === undefined || !timingSafeEqual(Buffer.from(given, 'hex'), expected)) {
      throw new AppError('invalid-signature');
    }
    const payload = isNestedTooDeep(body) ? undefined : parseJson(body);
    if (payload === undefined) {
      throw new AppError('invalid-request');
    }
    const receivedAt = new Date(this.clock.now());
    const removed = removedUserIn(event, payload);
    if (removed !== null) {
      await this.signals.makeDue('github', removed, receivedAt);
    }
    // A ping counts too: it shows that deliveries arrive.
    await this.received.note({ provider: 'github', kind: 'webhook', receivedAt });
  }
}
