import { Injectable, Logger } from '@nestjs/common';
import { BatchDeletion } from '../../common/batch-deletion.js';
import { Clock } from '../../common/runtime/clock.js';
import { ExpiredRowsRepository } from '../storage/repositories/expired-rows.repository.js';
import { RequestNewsService } from './request-news.service.js';

/** Expires requests, which drops their content; another job deletes old ones. */
@Injectable()
export class RequestRetentionJob extends BatchDeletion {
  constructor(rows: ExpiredRowsRepository, news: RequestNewsService, clock: Clock) {
    const deleteBatch = async (): Promise<boolean> => {
      const { expired, isMore } = await rows.expireRequests(new Date(clock.now()));
      news.expired(expired);
      return isMore;
    };
    super(deleteBatch, new Logger(RequestRetentionJob.name));
  }
}
