import { Param, ParseUUIDPipe } from '@nestjs/common';
import { AppError } from '../../common/errors.js';

/** No row has an id that is not a UUID: 404 `not-found`. */
export const IdParam = (name = 'id'): ParameterDecorator =>
  Param(name, new ParseUUIDPipe({ exceptionFactory: () => new AppError('not-found') }));
