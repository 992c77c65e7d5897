import { Param, type PipeTransform } from '@nestjs/common';
import { orRefuse } from '../../common/errors.js';
import { readUuid } from '../../common/uuid.js';

const ID: PipeTransform<string, string> = {
  transform: (text) => orRefuse(readUuid(text), 'not-found'),
};

/** No row has an id that is not a UUID: 404 `not-found`. */
export const IdParam = (name = 'id'): ParameterDecorator => Param(name, ID);
