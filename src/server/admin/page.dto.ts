import { ApiProperty } from '@nestjs/swagger';
import { OptionalNumber, OptionalText } from '../http/text-field.js';
import { ApiTextOrNull } from '../http/route-docs.js';

/** Query of a list that is read page by page. */
export class PageQueryDto {
  @ApiProperty({ required: false, default: 50, minimum: 1, maximum: 200 })
  @OptionalNumber(1, 200)
  limit: number = 50;

  @OptionalText(2048, { description: '`cursor` of the page before.' })
  cursor?: string;
}

export class PageDto {
  @ApiTextOrNull('null = the last page.') cursor!: string | null;
}
