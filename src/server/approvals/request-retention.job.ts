import { Injectable, Logger } from '@nestjs/common';
import { BatchDeletion } from '../../common/batch-deletion.js';
import { Clock } from '../../common/runtime/clock.js';
import { RequestRetentionRepository } from '../storage/repositories/approvals/request-retention.repository.js';
import { RequestNewsService } from './request-news.service.js';

/** Drops the content of expired requests. */
@Injectable()
export class RequestRetentionJob extends BatchDeletion {
  constructor(requests: RequestRetentionRepository, news: RequestNewsService, clock: Clock) {
    const deleteBatch = async (): Promise<boolean> => {
      const { expired, isMore } = await requests.expireBatch(new Date(clock.now()));
      news.expired(expired);
      return isMore;
    };
    super(deleteBatch, new Logger(RequestRetentionJob.name));
  }
}
