import { createHmac, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { AppError } from '../../common/errors.js';
import { SETTINGS, type Settings } from '../../config/settings.js';
import { leaverIn } from '../../policy/github-event.js';
import { PushSignalsService } from './push-signals.service.js';

const SIGNATURE = /^sha256=([0-9a-f]{64})$/;

/** GitHub's organisation webhook. A delivery that comes twice only asks twice. */
@Injectable()
export class GitHubWebhookService {
  private readonly secret: string | null;

  constructor(
    private readonly signals: PushSignalsService,
    @Inject(SETTINGS) settings: Settings,
  ) {
    const github = settings.providers.find(({ type }) => type === 'github');
    this.secret = github?.type === 'github' ? github.webhookSecret : null;
  }

  /**
   * @param body as it arrived: the signature is over its bytes
   * @throws AppError `not-found` where the webhook is off, `invalid-signature`, `invalid-request`
   */
  async receive(event: string, signature: string, body: string): Promise<void> {
    if (this.secret === null || !this.signals.isOn) {
      throw new AppError('not-found');
    }
    const given = SIGNATURE.exec(signature)?.[1];
    const expected = createHmac('sha256', this.secret).update(body).digest();
    if (given === undefined || !timingSafeEqual(Buffer.from(given, 'hex'), expected)) {
      throw new AppError('invalid-signature');
    }
    const leaver = leaverIn(event, parse(body));
    if (leaver !== null) {
      await this.signals.makeDue('github', leaver);
    }
  }
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new AppError('invalid-request');
  }
}
