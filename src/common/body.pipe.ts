import { Injectable, type ArgumentMetadata, type PipeTransform } from '@nestjs/common';
import { getMetadataStorage, validateSync, type ValidationError } from 'class-validator';
import { AppError } from './errors.js';

type Dto = new () => object;

const NATIVE = new Set<unknown>([String, Number, Boolean, Array, Object]);

/**
 * Validates a body or query against its class-validator class. Only declared fields are copied,
 * never walked: unknown ones are ignored whatever they hold (contract), `__proto__` included.
 */
@Injectable()
export class DeclaredFieldsPipe implements PipeTransform {
  private readonly fieldsOf = new Map<Dto, readonly string[]>();

  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if ((type !== 'body' && type !== 'query') || metatype === undefined || NATIVE.has(metatype)) {
      return value;
    }
    // No body is one without fields: what is missing then is said field by field.
    const dto = this.copyDeclared(value === undefined ? {} : value, metatype as Dto);
    const errors = validateSync(dto, { stopAtFirstError: true });
    if (errors.length > 0) {
      throw new AppError('invalid-request', { details: errors.flatMap(toDetails) });
    }
    return dto;
  }

  private copyDeclared(value: unknown, Type: Dto): object {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new AppError('invalid-request', {
        details: [{ path: '', message: 'Send a JSON object.' }],
      });
    }
    const dto = new Type();
    for (const field of this.declaredFields(Type)) {
      if (Object.hasOwn(value, field)) {
        Object.assign(dto, { [field]: (value as Record<string, unknown>)[field] });
      }
    }
    return dto;
  }

  private declaredFields(Type: Dto): readonly string[] {
    const known = this.fieldsOf.get(Type);
    if (known !== undefined) {
      return known;
    }
    const rules = getMetadataStorage().getTargetValidationMetadatas(Type, '', false, false);
    const fields = [...new Set(rules.map((rule) => rule.propertyName))];
    this.fieldsOf.set(Type, fields);
    return fields;
  }
}

function toDetails(error: ValidationError): { path: string; message: string }[] {
  const messages = Object.values(error.constraints ?? {});
  return messages.map((message) => ({ path: error.property, message }));
}
